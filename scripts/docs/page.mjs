// What the generated pages have in common.

/**
 * A page: title, purpose in one line, the note that it is generated, sections, and links to related pages.
 * @param source where to change the text
 */
export const renderPage = ({ title, purpose, source, sections, next }) =>
  `${[
    `# ${title}`,
    purpose,
    `<!-- Generated from ${source} by \`npm run docs\`. Change it there. -->`,
    ...sections,
    '## Next',
    next.map((link) => `- ${link}`).join('\n'),
  ].join('\n\n')}\n`;

/** A text as code in Markdown. */
export const code = (text) => `\`${text}\``;
