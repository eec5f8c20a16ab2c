import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import type { ICellModel } from '@jupyterlab/cells';
import {
  EditorExtensionRegistry,
  IEditorExtensionRegistry,
  IEditorLanguageRegistry
} from '@jupyterlab/codemirror';
import { EXTENSION_ID } from '../service/tokens';
import { type LanguageLoader, magicHighlighting } from './editorExtension';
import { magicLanguage } from './magicLanguage';

/** Shows the bodies of `%%svc_db`, `%%svc_shell`, `%%svc_pig` and the like in their own languages. */
export const highlightingPlugin: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:highlighting`,
  description: 'Highlights SQL, shell and Pig Latin in cells of magics.',
  autoStart: true,
  requires: [IEditorExtensionRegistry, IEditorLanguageRegistry],
  activate: (
    _: JupyterFrontEnd,
    extensions: IEditorExtensionRegistry,
    languages: IEditorLanguageRegistry
  ): void => {
    const load = loaderFrom(languages);
    extensions.addExtension({
      name: `${EXTENSION_ID}:highlighting`,
      factory: ({ model }) =>
        (model as Partial<ICellModel>).type === 'code'
          ? EditorExtensionRegistry.createImmutableExtension(magicHighlighting(load))
          : null
    });
  }
};

function loaderFrom(languages: IEditorLanguageRegistry): LanguageLoader {
  const known = new Map<string, ReturnType<LanguageLoader>>();
  return name => {
    const loading = known.get(name) ?? load(languages, name);
    known.set(name, loading);
    return loading;
  };
}

async function load(languages: IEditorLanguageRegistry, name: string): ReturnType<LanguageLoader> {
  const found = await languages.getLanguage(name);
  return found?.support ? magicLanguage(found.support.language) : null;
}
