// Print the texts that the JupyterLab extension translates, as JSON: `node extract_messages.mjs LABEXTENSION`.
// The compiler's own parser reads JSX and template literals, which a tokenizer of JavaScript takes for something else.
import { createRequire } from 'node:module';
import { readFileSync, readdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

const root = resolve(process.argv[2]);
const ts = createRequire(join(root, 'package.json'))('typescript');

/** The position of the arguments of each method of a TranslationBundle. */
const METHODS = {
  __: { id: 0 },
  gettext: { id: 0 },
  _n: { id: 0, plural: 1 },
  ngettext: { id: 0, plural: 1 },
  _p: { context: 0, id: 1 },
  pgettext: { context: 0, id: 1 },
  _np: { context: 0, id: 1, plural: 2 },
  npgettext: { context: 0, id: 1, plural: 2 }
};

const found = [];
const sources = readdirSync(join(root, 'src'), { recursive: true })
  .filter(name => /\.tsx?$/.test(name) && !/\.(spec|fixture|d)\.tsx?$/.test(name))
  .sort();
for (const name of sources) {
  const path = join(root, 'src', name);
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const visit = node => {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const places = METHODS[node.expression.name.text];
      if (places && /trans/i.test(node.expression.expression.getText())) {
        const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
        const entry = { file: relative(root, path), line };
        for (const [part, index] of Object.entries(places)) {
          const argument = node.arguments[index];
          if (!argument || !ts.isStringLiteralLike(argument)) {
            throw new Error(`${entry.file}:${line}: the text to translate is not a literal`);
          }
          entry[part] = argument.text;
        }
        found.push(entry);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}
process.stdout.write(JSON.stringify(found));
