export { workingFolder } from './folder';
export { cellInsertion, textInsertion } from './insertion';
export { Loaded, loadedOnce, reloading } from './loaded';
export { restoreOpenItems } from './openItems';
export { isConfirmed, type IQuestion } from './question';
export {
  type BadgeTone,
  ISvcPanel,
  type ISection,
  type ISectionHandle,
  OPEN_COMMAND
} from './tokens';
export { viewArea, VisibleView, VisibleWidget } from './views';
