// Style sheets of views are imported for their effect.
declare module "*.css";
