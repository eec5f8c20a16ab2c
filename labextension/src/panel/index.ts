export { isConfirmed, type IQuestion } from './question';
export { ISvcPanel, type ISection, type ISectionHandle, OPEN_COMMAND } from './tokens';
export { viewArea, VisibleView, VisibleWidget } from './views';
