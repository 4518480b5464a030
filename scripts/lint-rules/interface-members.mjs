// Finds the names that an interface declares, from the text of the sources: the types of the whole project would take ten times as long.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import ts from 'typescript';

/** Of TypeScript's library, what the classes of the project implement. */
const LIBRARY = { PromiseLike: new Set(['then']) };

let sources;
const known = new Map(Object.entries(LIBRARY));

/**
 * The names that an interface, or a type of an object, declares, with those that it extends.
 * @param name Its name. Of interfaces with one name, all count.
 */
export function membersOf(name) {
  const found = known.get(name);
  if (found) return found;
  const members = new Set();
  // Before it is complete, for types that refer to themselves.
  known.set(name, members);
  for (const statement of declarationsOf(name)) {
    for (const base of statement.heritageClauses?.flatMap(({ types }) => types) ?? [])
      addAll(members, base.expression.text);
    collect(statement.members ? statement : statement.type, members);
  }
  return members;
}

function collect(type, members) {
  if (type.members) for (const { name } of type.members) if (name?.text !== undefined) members.add(name.text);
  if (ts.isIntersectionTypeNode(type)) for (const part of type.types) collect(part, members);
  if (!ts.isTypeReferenceNode(type)) return;
  addAll(members, type.typeName.text);
  // As Pick, Omit and Partial have it.
  for (const argument of type.typeArguments ?? []) collect(argument, members);
}

function addAll(members, name) {
  if (name !== undefined) for (const member of membersOf(name)) members.add(member);
}

function* declarationsOf(name) {
  sources ??= readdirSync('src', { recursive: true })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => ({ file, text: readFileSync(join('src', file), 'utf8') }));
  const declared = new RegExp(`\\b(?:interface|type) ${name}\\b`);
  for (const { file, text } of sources) {
    if (!declared.test(text)) continue;
    for (const statement of ts.createSourceFile(file, text, ts.ScriptTarget.Latest).statements) {
      const isType = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
      if (isType && statement.name.text === name) yield statement;
    }
  }
}
