import js from '@eslint/js';
import jupyter from '@jupyter/eslint-plugin';
import prettier from 'eslint-config-prettier';
import hooks from 'eslint-plugin-react-hooks';
import { defineConfig } from 'eslint/config';
import typescript from 'typescript-eslint';

export default defineConfig([
  { ignores: ['build', 'node_modules', '*.js', '*.mjs', '**/*.d.ts'] },
  js.configs.recommended,
  typescript.configs.strictTypeChecked,
  { plugins: { jupyter } },
  jupyter.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    plugins: { 'react-hooks': hooks },
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname }
    },
    rules: {
      ...hooks.configs.recommended.rules,
      curly: 'error',
      eqeqeq: 'error',
      'no-restricted-syntax': [
        'error',
        {
          selector:
            "CallExpression[callee.object.name='Notification']" +
            '[callee.property.name=/^(info|success|warning|error)$/][arguments.length<2]',
          message: 'JupyterLab shows no toast without autoClose: use notices.ts.'
        }
      ],
      // Tokens and their interfaces share a name, as everywhere in JupyterLab.
      '@typescript-eslint/no-redeclare': 'off',
      '@typescript-eslint/naming-convention': [
        'error',
        { selector: 'interface', format: ['PascalCase'], custom: { regex: '^I[A-Z]', match: true } }
      ],
      // Lumino's signals take a method and the object it is to be called on.
      '@typescript-eslint/unbound-method': 'off',
      // What it finds here is what activation itself needs (the rule says to leave that), and views of the panel, which is
      // open from the start on; what activation costs is measured (benchmarks/lab.py).
      'jupyter/prefer-lazy-imports': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // Signals and event handlers are told `void promise` where nobody waits.
      '@typescript-eslint/no-confusing-void-expression': 'off'
    }
  },
  {
    files: ['**/*.spec.ts', '**/*.spec.tsx'],
    rules: { 'jupyter/no-untranslated-string': 'off' }
  },
  prettier
]);
