import { MainAreaWidget } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { consoleIcon } from '@jupyterlab/ui-components';
import type { JSX } from 'react';
import { VisibleWidget } from '../panel';
import type { ServiceRequests } from '../service';
import { CommandDetail } from './detail';
import { CommandDetailModel } from './detailModel';

/** A command in the main area. */
export class CommandDetailWidget extends MainAreaWidget<DetailContent> {
  constructor(
    requests: ServiceRequests,
    readonly commandId: number,
    trans: TranslationBundle
  ) {
    super({ content: new DetailContent(new CommandDetailModel(requests, commandId), trans) });
    this.id = `svc-jupyter-command-${commandId}`;
    this.title.label = trans.__('Command %1', commandId);
    this.title.icon = consoleIcon;
    this.title.closable = true;
  }
}

class DetailContent extends VisibleWidget {
  constructor(
    private readonly _model: CommandDetailModel,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.addClass('jp-SvcDetailHost');
  }

  override dispose(): void {
    this._model.dispose();
    super.dispose();
  }

  protected override content(): JSX.Element {
    return <CommandDetail model={this._model} trans={this._trans} />;
  }
}
