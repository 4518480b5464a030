// An ESLint rule: exported declarations, and public methods of exported classes, have a doc comment.
import { membersOf } from './interface-members.mjs';

/** Declarations that need a doc comment when they are exported. */
const DECLARATIONS = new Set([
  'ClassDeclaration',
  'FunctionDeclaration',
  'TSDeclareFunction',
  'TSEnumDeclaration',
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
  'VariableDeclaration',
]);

/** The rule. A method that an interface of its class declares is documented there. */
export const publicDocs = {
  meta: {
    type: 'suggestion',
    docs: { description: 'Require doc comments on exported declarations and on public methods of exported classes.' },
    messages: { missing: '{{ name }} has no doc comment.' },
    schema: [],
  },
  create(context) {
    const { sourceCode } = context;
    const hasDoc = (node) =>
      sourceCode.getCommentsBefore(node).some(({ type, value }) => type === 'Block' && value.startsWith('*'));
    const report = (node, name) => {
      context.report({ node, messageId: 'missing', data: { name } });
    };

    /** Whether an interface that the class implements declares the member. */
    function isInherited(classNode, name) {
      return classNode.implements.some(({ expression }) => membersOf(expression.name).has(name));
    }

    function checkMember(classNode, member) {
      const isPublic = member.accessibility !== 'private' && member.accessibility !== 'protected';
      const isNamed = !member.computed && member.key.type === 'Identifier';
      if (member.kind === 'constructor' || !isPublic || !isNamed || member.override) return;
      if (!hasDoc(member) && !isInherited(classNode, member.key.name)) report(member.key, member.key.name);
    }

    return {
      ExportNamedDeclaration(node) {
        const { declaration } = node;
        if (!declaration || !DECLARATIONS.has(declaration.type)) return;
        const target = declaration.declarations?.[0]?.id ?? declaration.id;
        const name = target.type === 'Identifier' ? target.name : 'The export';
        if (!hasDoc(node) && !isLaterOverload(node, name)) report(target, name);
        if (declaration.type === 'ClassDeclaration') checkMethods(declaration);
      },
    };

    /** Of overloads, the first one is documented for all of them. */
    function isLaterOverload(node, name) {
      return node.parent.body.some(
        (other) =>
          other.range[0] < node.range[0] &&
          other.type === 'ExportNamedDeclaration' &&
          other.declaration?.type === 'TSDeclareFunction' &&
          other.declaration.id.name === name,
      );
    }

    function checkMethods(classNode) {
      const documented = new Set();
      for (const member of classNode.body.body) {
        const isMethod = member.type === 'MethodDefinition' || member.type === 'TSAbstractMethodDefinition';
        if (!isMethod) continue;
        // The second of two accessors or overloads with one name shares the comment of the first.
        const name = member.key.type === 'Identifier' ? member.key.name : undefined;
        if (name !== undefined && documented.has(name)) continue;
        documented.add(name);
        checkMember(classNode, member);
      }
    }
  },
};
