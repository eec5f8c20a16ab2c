import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { clustersPlugin } from './clusters/plugin';
import { contentsPlugin } from './contents/plugin';
import { highlightingPlugin } from './highlighting/plugin';
import { panelPlugin } from './panel/plugin';
import { servicePlugin } from './service/plugin';

/** Every feature is a plugin of its own, so that each can be switched off. */
const plugins: JupyterFrontEndPlugin<unknown>[] = [
  servicePlugin,
  panelPlugin,
  clustersPlugin,
  contentsPlugin,
  highlightingPlugin
];

export default plugins;
