// The shell script around a child process that must not outlive us. Its arguments are the child's own folder and the
// command; descriptor 3 is the pipe to us.

/** `now` on the pipe kills at once; closing it asks first (SIGTERM), then clears the server's own folder and kills. */
export const WATCHED = `
folder=$1
shift
(
  trap : TERM HUP INT
  exec </dev/null >/dev/null 2>&1 4>&- 5>&-
  read -r word <&3
  [ "$word" = now ] || { kill -TERM 0; sleep 1; rm -rf "$folder"; }
  kill -KILL 0
) &
exec 3<&-
exec "$@"
`;
