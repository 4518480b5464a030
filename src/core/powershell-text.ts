/** Characters that PowerShell reads as a single quote. Source: about_Quoting_Rules; U+2018 to U+201B are typographic ones. */
const SINGLE_QUOTES = /['\u2018-\u201B]/g;

/** Quotes text for PowerShell: between single quotes it reads two of them as one, and everything else as it is. */
export const quotePowerShell = (text: string): string => `'${text.replaceAll(SINGLE_QUOTES, '$&$&')}'`;

/**
 * Returns text that runs the script in a file in PowerShell itself, whatever the file is called.
 * @param path an expression of PowerShell
 */
export const sourcePowerShell = (path: string): string =>
  `. ([scriptblock]::Create([System.IO.File]::ReadAllText(${path})))`;
