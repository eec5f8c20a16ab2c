import { Language, defineLanguageFacet, languageDataProp } from '@codemirror/language';
import { NodeSet, NodeType, Parser, Tree, parseMixed } from '@lezer/common';
import type { Input, ParseWrapper, PartialParse, TreeFragment } from '@lezer/common';
import { styleTags, tags } from '@lezer/highlight';

const data = defineLanguageFacet();
const { types } = new NodeSet([
  NodeType.define({ id: 0, name: 'MagicCell', top: true, props: [[languageDataProp, data]] }),
  NodeType.define({ id: 1, name: 'MagicLine' }),
  NodeType.define({ id: 2, name: 'Body' })
]).extend(styleTags({ MagicLine: tags.meta }));
const [cellType, magicType, bodyType] = types as [NodeType, NodeType, NodeType];

/**
 * Return the language of a cell whose first line is a magic and whose other lines are in another language.
 *
 * @param body - Language of the lines after the first
 * @returns A language; nothing in the magic's line, such as a quote, affects the body's parser
 */
export function magicLanguage(body: Language): Language {
  return new Language(data, new MagicCellParser(body.parser), [], `${body.name} in a magic cell`);
}

class MagicCellParser extends Parser {
  constructor(body: Parser) {
    super();
    this._mixed = parseMixed(node => (node.type === bodyType ? { parser: body } : null));
  }

  override createParse(
    input: Input,
    fragments: readonly TreeFragment[],
    ranges: readonly { from: number; to: number }[]
  ): PartialParse {
    return this._mixed(new MagicCellParse(input), input, fragments, ranges);
  }

  private readonly _mixed: ParseWrapper;
}

/** Splits a cell into two parts, in one step. */
class MagicCellParse implements PartialParse {
  constructor(input: Input) {
    this._input = input;
  }

  /** Where to stop early; never set. */
  readonly stoppedAt: number | null = null;

  get parsedPos(): number {
    return this._isDone ? this._input.length : 0;
  }

  stopAt(): void {
    // It finishes before it could be stopped; the body's parser handles stopping itself.
  }

  advance(): Tree {
    this._isDone = true;
    const length = this._input.length;
    const end = endOfMagicLine(this._input);
    const magic = new Tree(magicType, [], [], end);
    const body = new Tree(bodyType, [], [], length - end);
    return length > end
      ? new Tree(cellType, [magic, body], [0, end], length)
      : new Tree(cellType, [magic], [0], length);
  }

  private readonly _input: Input;
  private _isDone = false;
}

/** Return the end of the first non-empty line. */
function endOfMagicLine(input: Input): number {
  let isEmpty = true;
  for (let start = 0; start < input.length;) {
    const chunk = input.chunk(start);
    for (let at = 0; at < chunk.length; at++) {
      if (chunk[at] !== '\n') {
        isEmpty &&= chunk[at]?.trim() === '';
      } else if (!isEmpty) {
        return start + at;
      }
    }
    start += Math.max(chunk.length, 1);
  }
  return input.length;
}
