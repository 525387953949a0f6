// A browser under a POSIX locale names a language that its own number formats refuse ("en-US@posix"), and uPlot asks for
// them as it is loaded: then it gets one that they know. Import this before it.
try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, "language", { value: "en-US" });
}
