import type { INoteForm } from '../service/records/notes';
import type {
  Arguments,
  ArgumentType,
  ArgumentValue,
  IDeclaredParameter,
  IDeclaringNotebook
} from '../service/records/schedules';

/** How a parameter is given its value: by a typed text, or by the notebook's own code. */
export type ParameterType = ArgumentType | 'code';

/** A typed value, or code. */
interface ITyped {
  type: ParameterType;
  text: string;
}

/** What a notebook says itself: a literal, or code, which is no value that can be typed; of a note, a form. */
export interface IOwn extends ITyped {
  form?: INoteForm;
}

/** A parameter with its value in the form. */
export interface IParameter extends ITyped {
  name: string;
  /** What the notebook says itself; null for an added one. */
  own: IOwn | null;
  /** Whether the edited schedule has an argument here: it stays one also when it equals the notebook's value. */
  isGiven?: boolean;
}

/** The cell tag that marks a notebook's own values. */
export const PARAMETERS_TAG = 'parameters';

/** The used part of a cell: its source and tags. */
export interface ITaggedCell {
  cell_type: string;
  source: string | string[];
  metadata?: { tags?: unknown };
}

const WHOLE = /^-?\d{1,400}$/;

/** Return the part of a notebook that declares its parameters. */
export function declaringPart(notebook: IDeclaringNotebook): IDeclaringNotebook {
  const { kernelspec, language_info } = notebook.metadata;
  const cells = notebook.cells
    .filter(one => tagsOf(one).includes(PARAMETERS_TAG))
    .map(({ cell_type, source, metadata }) => ({ cell_type, source, metadata: metadata ?? {} }));
  return { cells, metadata: { kernelspec, language_info } };
}

/** Return a notebook's own parameter. */
export function parameterOf({ name, code, type, text }: IDeclaredParameter): IParameter {
  const own: IOwn = type === null || text === null ? { type: 'code', text: code } : { type, text };
  return { name, ...own, own };
}

/** Return a cell's tags. */
export function tagsOf(cell: ITaggedCell): string[] {
  const tags = cell.metadata?.tags;
  return Array.isArray(tags) ? tags.map(String) : [];
}

function parameterFrom(name: string, value: ArgumentValue, own: IOwn | null): IParameter {
  return { name, type: typeOf(value, own), text: String(value), own, isGiven: true };
}

function typeOf(value: ArgumentValue, own: IOwn | null): ArgumentType {
  if (own?.form) {
    return 'str'; // a form takes what can be typed
  }
  if (typeof value === 'number') {
    return Number.isInteger(value) && own?.type !== 'float' ? 'int' : 'float';
  }
  return typeof value === 'boolean' ? 'bool' : 'str';
}

/** Return the value of a text; undefined when the text does not fit its type, and for code. */
export function valueOf(parameter: IParameter): ArgumentValue | undefined {
  const text = parameter.text.trim();
  switch (parameter.type) {
    case 'str':
      return parameter.text;
    case 'bool':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'int':
      return WHOLE.test(text) && isExact(text) ? Number(text) : undefined;
    case 'float':
      return text !== '' && Number.isFinite(Number(text)) && !(WHOLE.test(text) && !isExact(text))
        ? Number(text)
        : undefined;
    case 'code':
      return undefined;
  }
}

/** JavaScript numbers are doubles: an integer beyond 2⁵³ would change. */
function isExact(whole: string): boolean {
  return Number.isSafeInteger(Number(whole));
}

/** Return whether a parameter has the notebook's own value, which is not passed to a run. */
export function isOwn({ type, text, own, isGiven = false }: IParameter): boolean {
  return !isGiven && type === own?.type && text === own.text;
}

/** Return the arguments of a schedule: the values that differ from the notebook's own. */
export function argumentsOf(parameters: readonly IParameter[]): Arguments {
  const given: Arguments = {};
  for (const parameter of parameters) {
    const value = valueOf(parameter);
    if (parameter.name !== '' && value !== undefined && !isOwn(parameter)) {
      given[parameter.name] = value;
    }
  }
  return given;
}

/** Return a notebook's parameters with the values of a schedule; undeclared ones come last. */
export function withArguments(declared: readonly IParameter[], values: Arguments): IParameter[] {
  const own = declared.map(one => {
    const value = values[one.name];
    return value === undefined ? one : parameterFrom(one.name, value, one.own);
  });
  const names = new Set(declared.map(one => one.name));
  const added = Object.entries(values).filter(([name]) => !names.has(name));
  return [...own, ...added.map(([name, value]) => parameterFrom(name, value, null))];
}

/** Return a parameter with the notebook's own value, which an added one does not have. */
export function asOwn({ name, type, text, own }: IParameter): IParameter {
  return { name, type: own?.type ?? type, text: own?.text ?? text, own };
}

/** Return the parameters of a form with what the notebook declares now: its own values are its present ones. */
export function withDeclared(
  typed: readonly IParameter[],
  declared: readonly IParameter[]
): IParameter[] {
  return typed.flatMap((one, place) => {
    const isFirst = typed.findIndex(other => other.name === one.name) === place;
    const now = isFirst ? declared.find(other => other.name === one.name) : undefined;
    if (isOwn(one)) {
      return now ? [now] : [];
    }
    const own = now?.own ?? null;
    return [
      { ...one, type: own?.type === 'float' && one.type === 'int' ? 'float' : one.type, own }
    ];
  });
}
