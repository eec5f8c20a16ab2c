/** Opens a command in the main area: `{id}`. */
export const OPEN_COMMAND = 'svc-jupyter:open-command';
