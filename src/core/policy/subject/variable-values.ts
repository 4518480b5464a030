/** Programs that only print, exit, or do nothing: harmless as a pager or editor. */
export const TRIVIAL_PROGRAM = /^(?:|cat|less|more|true|false|:|echo|vi|vim|nano|emacs|ed)$/;

/** Options of language runtimes that load no other code. */
export const RUNTIME_OPTIONS =
  /^(?!.*(?:--require|--import|--loader|(?:^|\s)-r|javaagent|agentlib|agentpath|@|:\+?On(?:OutOfMemory)?Error)).*$/;
