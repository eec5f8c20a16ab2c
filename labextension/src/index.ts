import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { panelPlugin } from './panel/plugin';
import { servicePlugin } from './service/plugin';

/** Every feature is a plugin of its own, so that each can be switched off. */
const plugins: JupyterFrontEndPlugin<unknown>[] = [servicePlugin, panelPlugin];

export default plugins;
