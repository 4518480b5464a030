import { describe, expect, it } from 'vitest';

import { parseDiff } from '../../../../src/dashboard/components/diff-view.js';

const PATCH = `diff --git a/x.sql b/x.sql
index 1..2 100644
--- a/x.sql
+++ b/x.sql
@@ -1,3 +1,3 @@ head
 one
--- a comment
+-- another
 three
@@ -9 +9,2 @@
 nine
+ten
\\ No newline at end of file
diff --git a/y b/y
new file mode 100644
`;

describe('a unified diff', () => {
  it('has numbers for the lines before and after', () => {
    const lines = parseDiff(PATCH).map(({ kind, text, before, after }) => [kind, before, after, text]);
    expect(lines).toEqual([
      ['file', null, null, 'x.sql'],
      ['hunk', null, null, '@@ -1,3 +1,3 @@ head'],
      ['context', 1, 1, 'one'],
      ['removed', 2, null, '-- a comment'],
      ['added', null, 2, '-- another'],
      ['context', 3, 3, 'three'],
      ['hunk', null, null, '@@ -9 +9,2 @@'],
      ['context', 9, 9, 'nine'],
      ['added', null, 10, 'ten'],
      ['note', null, null, '\\ No newline at end of file'],
      ['file', null, null, 'y'],
      ['note', null, null, 'new file mode 100644'],
    ]);
  });

  it('goes on after a part that was left out', () => {
    const kinds = parseDiff('@@ -1,9 +1,9 @@\n a\n[… 99 characters omitted …]\n+b\n@@ -20 +20 @@\n-c\n+d').map(
      ({ kind }) => kind,
    );
    expect(kinds).toEqual(['hunk', 'context', 'note', 'note', 'hunk', 'removed', 'added']);
  });

  it('has both names of a file that was renamed, and one with spaces', () => {
    const files = 'diff --git a/old b/new\nsimilarity index 90%\nrename from old\ndiff --git a/two words b/two words\n';
    expect(parseDiff(files).map(({ text }) => text)).toEqual([
      'a/old b/new',
      'similarity index 90%',
      'rename from old',
      'two words',
    ]);
  });

  it('has no lines for an empty patch', () => {
    expect(parseDiff('')).toEqual([]);
  });
});
