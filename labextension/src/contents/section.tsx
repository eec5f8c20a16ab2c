import type { TranslationBundle } from '@jupyterlab/translation';
import { CommandToolbarButtonComponent, UseSignal } from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';
import { type JSX, useContext, useEffect } from 'react';
import { EmptyState, LoadingState } from '../list';
import { VisibleContext } from '../service';
import { COMMANDS } from './commands';
import type { IItem } from './items';
import type { TreeModel } from './model';
import { TreeView } from './treeView';

/** The content of the section, and its callbacks. */
export interface IContentsSectionProps {
  trans: TranslationBundle;
  model: TreeModel;
  commands: CommandRegistry;
  /** Called when the section becomes visible. */
  look: () => void;
}

const BAR = [
  COMMANDS.create,
  COMMANDS.upload,
  COMMANDS.rename,
  COMMANDS.move,
  COMMANDS.remove,
  COMMANDS.refresh
];

/** The service's notebooks, notes and dashboards as trees, with the steps for the selected item. */
export function ContentsSection(props: IContentsSectionProps): JSX.Element {
  const { trans, model, commands, look } = props;
  const isVisible = useContext(VisibleContext);
  useEffect(() => {
    if (isVisible) {
      look();
    }
  }, [isVisible, look]);
  const move = (item: IItem, place: IItem): void => void model.move(item, place);
  return (
    <UseSignal signal={model.changed}>
      {() => (
        <div className="jp-SvcContents">
          <div
            className="jp-SvcContents-bar"
            role="group"
            aria-label={trans.__('Steps for the selected item')}
          >
            {BAR.map(id => (
              <CommandToolbarButtonComponent key={id} id={id} commands={commands} label="" />
            ))}
          </div>
          <Problem trans={trans} model={model} />
          {model.search !== '' && model.rows.length === 0 ? (
            <NothingFound trans={trans} model={model} />
          ) : (
            <TreeView
              trans={trans}
              model={model}
              label={trans.__('Notebooks, notes and dashboards of the service')}
              onOpen={() => void commands.execute(COMMANDS.open)}
              onDrop={move}
            />
          )}
        </div>
      )}
    </UseSignal>
  );
}

function NothingFound({
  trans,
  model
}: {
  trans: TranslationBundle;
  model: TreeModel;
}): JSX.Element {
  if (model.isSearching) {
    return <LoadingState text={trans.__('Asking the service…')} />;
  }
  return (
    <EmptyState
      text={
        model.isWhole
          ? trans.__(
              'No notebook, note, dashboard or folder has “%1” in its name or text.',
              model.search
            )
          : trans.__('Nothing that was read so far has “%1” in its name.', model.search)
      }
    />
  );
}

/** The service's refusal. */
function Problem({
  trans,
  model
}: {
  trans: TranslationBundle;
  model: TreeModel;
}): JSX.Element | null {
  if (model.problem === null) {
    return null;
  }
  return (
    <div role="alert" className="jp-SvcState jp-mod-error jp-SvcContents-problem">
      <span>✗ {model.problem}</span>
      <button type="button" className="jp-SvcButton jp-mod-small" onClick={() => model.forgive()}>
        {trans.__('Close')}
      </button>
    </div>
  );
}
