import type { ArgumentValue } from '../service/records/schedules';

/** The types of a notebook's arguments. */
export type ParameterType = 'str' | 'int' | 'float' | 'bool';

/** A parameter with its typed value; `byDefault` is the notebook's own text, null for an added one. */
export interface IParameter {
  name: string;
  type: ParameterType;
  text: string;
  byDefault: string | null;
}

/** The cell tag that marks a notebook's own values. */
export const PARAMETERS_TAG = 'parameters';

/** The used part of a cell: its source and tags. */
export interface ITaggedCell {
  source: string | string[];
  metadata?: { tags?: unknown };
}

const STRING = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`;
const NUMBER = String.raw`[+-]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?L?`;
const TRUTH = 'True|False|TRUE|FALSE|true|false';
const ASSIGNMENT = new RegExp(
  String.raw`^(?:va[lr]\s+)?([A-Za-z_]\w*)(?:\s*:\s*[\w.]+)?\s*(?:=|<-)\s*` +
    String.raw`(?:(${STRING})|(${NUMBER})|(${TRUTH}))\s*(?:(?:[#;]|//).*)?$`
);
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };
const LARGEST_INTEGER = 2n ** 63n;
/** Maximum length of a line; values typed into a form are shorter. */
const LONGEST_LINE = 2_000;

/**
 * Return the parameters declared in a notebook's cell tagged `parameters`: assignments of literals in Python, R, Julia,
 * Scala or Bash. Other values cannot be passed to a run and are omitted.
 */
export function parametersOf(cells: readonly ITaggedCell[]): IParameter[] {
  const cell = cells.find(one => tagsOf(one).includes(PARAMETERS_TAG));
  if (!cell) {
    return [];
  }
  const source = Array.isArray(cell.source) ? cell.source.join('') : cell.source;
  const found = new Map<string, IParameter>();
  for (const line of source.split('\n')) {
    const parameter = line.length > LONGEST_LINE ? null : parameterIn(line.trimEnd());
    if (parameter) {
      found.set(parameter.name, parameter);
    }
  }
  return [...found.values()];
}

/** Return a cell's tags. */
export function tagsOf(cell: ITaggedCell): string[] {
  const tags = cell.metadata?.tags;
  return Array.isArray(tags) ? tags.map(String) : [];
}

function parameterIn(line: string): IParameter | null {
  const match = ASSIGNMENT.exec(line);
  if (!match) {
    return null;
  }
  const [, name = '', quoted, number, truth] = match;
  const [type, text] = typed(quoted, number, truth);
  return { name, type, text, byDefault: text };
}

function typed(quoted?: string, number?: string, truth?: string): [ParameterType, string] {
  if (quoted !== undefined) {
    return ['str', unquoted(quoted)];
  }
  if (number !== undefined) {
    const plain = number.replace(/_/g, '');
    const isInteger = /^[+-]?\d+L?$/.test(plain);
    return isInteger ? ['int', plain.replace('L', '').replace('+', '')] : ['float', plain];
  }
  return ['bool', (truth ?? '').toLowerCase()];
}

function unquoted(literal: string): string {
  const escape = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|(.))/g;
  const meant = (_: string, two?: string, four?: string, one?: string): string =>
    one === undefined
      ? String.fromCharCode(parseInt(two ?? four ?? '', 16))
      : (ESCAPES[one] ?? one);
  return literal.slice(1, -1).replace(escape, meant);
}

/** Return type and text of a schedule's value. */
export function parameterFrom(
  name: string,
  value: ArgumentValue,
  declared: IParameter | undefined
): IParameter {
  const type =
    typeof value === 'boolean'
      ? 'bool'
      : typeof value === 'string'
        ? 'str'
        : numberType(value, declared);
  return { name, type, text: String(value), byDefault: declared?.byDefault ?? null };
}

function numberType(value: number, declared: IParameter | undefined): ParameterType {
  return Number.isInteger(value) && declared?.type !== 'float' ? 'int' : 'float';
}

/** Return the value of a text; undefined when the text does not fit its type. */
export function valueOf(parameter: IParameter): ArgumentValue | undefined {
  const text = parameter.text.trim();
  switch (parameter.type) {
    case 'str':
      return parameter.text;
    case 'bool':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'int':
      return /^-?\d{1,19}$/.test(text) && isExact(text) ? Number(text) : undefined;
    case 'float':
      return text !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined;
  }
}

/** JavaScript numbers are doubles: an integer beyond 2⁵³ would change. */
function isExact(text: string): boolean {
  const value = BigInt(text);
  return -LARGEST_INTEGER <= value && value < LARGEST_INTEGER && Number.isSafeInteger(Number(text));
}

/** Return the arguments of a schedule: the values that differ from the notebook's own. */
export function argumentsOf(parameters: readonly IParameter[]): { [name: string]: ArgumentValue } {
  const given: { [name: string]: ArgumentValue } = {};
  for (const parameter of parameters) {
    const value = valueOf(parameter);
    if (parameter.name !== '' && value !== undefined && parameter.text !== parameter.byDefault) {
      given[parameter.name] = value;
    }
  }
  return given;
}

/** Return a notebook's parameters with the values of a schedule; undeclared ones come last. */
export function withArguments(
  declared: readonly IParameter[],
  given: { [name: string]: ArgumentValue } | null | undefined
): IParameter[] {
  const values = given ?? {};
  const own = declared.map(one => {
    const value = values[one.name];
    return value === undefined ? one : parameterFrom(one.name, value, one);
  });
  const names = new Set(declared.map(one => one.name));
  const added = Object.entries(values).filter(([name]) => !names.has(name));
  return [...own, ...added.map(([name, value]) => parameterFrom(name, value, undefined))];
}

/** Return a parameter with its declaration: the notebook's own value, and float for a whole number if so declared. */
export function declaredAs(one: IParameter, declared: IParameter | undefined): IParameter {
  const type = declared?.type === 'float' && one.type === 'int' ? 'float' : one.type;
  return { ...one, type, byDefault: declared?.byDefault ?? null };
}
