export { openPython, type PythonDomain } from "./environment.ts";
export { findPython } from "./find-python.ts";
export { PythonPool, type PythonPoolOptions } from "./pool.ts";
