/** Commands about the item that is selected in the section "Notebooks". */
export const COMMANDS = {
  open: 'svc-jupyter:open-content',
  create: 'svc-jupyter:new-folder',
  rename: 'svc-jupyter:rename-content',
  move: 'svc-jupyter:move-content',
  remove: 'svc-jupyter:delete-content',
  upload: 'svc-jupyter:upload-notebook',
  refresh: 'svc-jupyter:refresh-contents'
} as const;
