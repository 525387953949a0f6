export { openPython, type PythonDomain } from "./environment.ts";
export { PythonPool, type PythonPoolOptions } from "./pool.ts";
