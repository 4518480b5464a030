// clients/python/shell_adapter/models.py and _requests.py: types of all messages, and a method for each request.
import { protocolSchemas } from '../../dist/core/descriptions/schemas.js';
import { ERROR_CATALOGUE } from '../../dist/core/error-catalogue.js';
import { isRepeatable } from '../../dist/client/connection/pending-requests.js';
import { requests } from '../../dist/core/protocol/requests.js';

const SOURCE = '# Generated from src/core/protocol by `npm run docs`. Change it there.';
/** Longest line. */
const WIDTH = 120;
/** Words of Python that cannot be names of fields in a class. */
const KEYWORDS = new Set([
  'class',
  'from',
  'global',
  'import',
  'is',
  'in',
  'not',
  'pass',
  'raise',
  'return',
  'with',
  'as',
]);
const SIMPLE = { string: 'str', boolean: 'bool', integer: 'int', number: 'float', null: 'None' };

const protocol = () => protocolSchemas({ target: 'draft-7', bytes: { type: 'string', format: 'binary' } });
const nameIn = ({ $ref }) => $ref.split('/').at(-1);
const pascal = (name) => name.replaceAll(/(?:^|_)([a-z])/g, (_, letter) => letter.toUpperCase());
const literal = (values) => `Literal[${values.map((value) => pythonValue(value)).join(', ')}]`;
const pythonValue = (value) => (typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value));

/** A comment in the width of a page. */
function comment(text, indent) {
  const lines = [];
  for (const word of text.replaceAll('\\', '\\\\').replaceAll('"""', "'''").split(/\s+/)) {
    const line = lines.at(-1);
    if (line === undefined || `${line} ${word}`.length > WIDTH - indent.length - 6) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return `${indent}"""${lines.join(`\n${indent}`)}"""`;
}

/** Python's type of a schema; types of nested objects are added to `classes` under names that begin with `name`. */
function typeOf(schema, name, classes) {
  const { $ref, enum: values, anyOf, type, items, properties, additionalProperties, format } = schema;
  if ($ref) return nameIn(schema);
  if (schema.allOf?.length === 1) return typeOf(schema.allOf[0], name, classes);
  if (values) return literal(values);
  if ('const' in schema) return literal([schema.const]);
  if (anyOf) return [...new Set(anyOf.map((choice) => typeOf(choice, name, classes)))].join(' | ');
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one }, name, classes)).join(' | ');
  if (format === 'binary') return 'bytes';
  if (type === 'array') return `list[${items ? typeOf(items, name, classes) : 'Any'}]`;
  if (properties) {
    classes.push(classOf(schema, name, classes));
    return name;
  }
  if (type === 'object') {
    const isMap = typeof additionalProperties === 'object';
    return `dict[str, ${isMap ? typeOf(additionalProperties, name, classes) : 'Any'}]`;
  }
  return SIMPLE[type] ?? 'Any';
}

/** The class of an object. */
function classOf({ properties = {}, required = [], description }, name, classes) {
  const fields = Object.entries(properties).map(([field, schema]) => {
    const type = typeOf(schema, `${name}${pascal(field)}`, classes);
    return { field, text: schema.description, type: required.includes(field) ? type : `NotRequired[${type}]` };
  });
  if (fields.some(({ field }) => KEYWORDS.has(field))) {
    const entries = fields.map(
      ({ field, type }) => `        ${JSON.stringify(field)}: ${JSON.stringify(type).replaceAll('\\"', "'")},`,
    );
    return [`${name} = TypedDict(`, `    "${name}",`, '    {', ...entries, '    },', ')'].join('\n');
  }
  const lines = fields.flatMap(({ field, type, text }) => [
    `    ${field}: ${type}`,
    ...(text ? [comment(text, '    ')] : []),
  ]);
  if (description) lines.unshift(comment(description, '    '));
  return [`class ${name}(TypedDict):`, ...(lines.length > 0 ? lines : ['    pass'])].join('\n');
}

/** Renders the types of all messages. */
export function renderPythonModels() {
  const classes = [];
  for (const [name, schema] of Object.entries(protocol().schemas)) classes.push(classOf(schema, name, classes));
  const codes = Object.keys(ERROR_CATALOGUE);
  const retries = Object.entries(ERROR_CATALOGUE).map(([code, { retry }]) => `    "${code}": "${retry}",`);
  const repeatable = Object.keys(requests)
    .filter((name) => isRepeatable({ name, payload: {}, isBound: false }))
    .map((name) => `        "${name}",`);
  return [
    `"""Types of all requests, answers and events of the protocol."""\n\n${SOURCE}\n`,
    'from __future__ import annotations\n',
    'from typing import Any, Literal, Mapping, NotRequired, TypedDict\n',
    `ErrorCode = Literal[\n${codes.map((code) => `    "${code}",`).join('\n')}\n]\n"""Codes of errors."""\n`,
    `RETRY: Mapping[str, Literal["later", "changed", "check"]] = {\n${retries.join('\n')}\n}\n"""Whether a request that failed so may be sent again: see AdapterError.retry."""\n`,
    `REPEATABLE = frozenset(\n    {\n${repeatable.join('\n')}\n    }\n)\n"""Requests that may be sent again when their delivery is unknown."""\n`,
    `\n${classes.join('\n\n\n')}\n`,
  ].join('\n');
}

/** Renders a method for each request, for asyncio and without it. */
export function renderPythonRequests() {
  const { inputOf, outputOf } = protocol();
  const methods = (isAsync) =>
    Object.entries(requests).map(([name, { summary }]) => {
      const [input, output] = [nameIn(inputOf(name)), nameIn(outputOf(name))];
      const [define, wait] = isAsync ? ['async def', 'await '] : ['def', ''];
      return [
        `    ${define} ${name}(self, **fields: Unpack[models.${input}]) -> models.${output}:`,
        comment(summary, '        '),
        `        return cast("models.${output}", ${wait}self._request("${name}", fields))`,
      ].join('\n');
    });
  const classText = (name, doc, parameter, isAsync) =>
    [
      `class ${name}:\n    """${doc}"""`,
      `    def __init__(self, request: ${parameter}) -> None:\n        self._request = request`,
      ...methods(isAsync),
    ].join('\n\n');
  return [
    `"""A method for each request of the protocol."""\n\n${SOURCE}\n`,
    'from __future__ import annotations\n',
    'from typing import Any, Awaitable, Callable, Mapping, Unpack, cast\n',
    'from . import models\n\n',
    `${classText('AsyncRequests', 'Requests for asyncio.', 'Callable[[str, Mapping[str, Any]], Awaitable[Any]]', true)}\n\n`,
    `${classText('Requests', 'Requests that wait for their answers.', 'Callable[[str, Mapping[str, Any]], Any]', false)}\n`,
  ].join('\n');
}
