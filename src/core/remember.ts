// What is made from something that never changes, and is asked for again and again.

/** Makes it once, and keeps it as long as what it was made from lives. */
export function remember<From extends object, Made>(make: (from: From) => Made): (from: From) => Made {
  const known = new WeakMap<From, { made: Made }>();
  return (from) => {
    let entry = known.get(from);
    if (!entry) {
      entry = { made: make(from) };
      known.set(from, entry);
    }
    return entry.made;
  };
}
