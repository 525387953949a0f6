// Styles are files of ours that the build collects.
declare module "*.css";
