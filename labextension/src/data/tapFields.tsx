import type { TranslationBundle } from '@jupyterlab/translation';
import type { JSX, RefObject } from 'react';
import { CheckField, SecretField, TextField } from '../forms';
import type { ITap } from '../service/records/data';
import { fieldsOf, type ITapValues, type TapField, type TapProblems } from './tapForm';

/** The fields of a type of tap. */
export function TapFields(props: {
  trans: TranslationBundle;
  values: ITapValues;
  problems: TapProblems;
  set: (change: Partial<ITapValues>) => void;
  touched: (field: TapField) => void;
  password: RefObject<HTMLInputElement>;
  url: RefObject<HTMLInputElement>;
  tap: ITap | null;
}): JSX.Element {
  const { trans, values, problems, set, touched, tap } = props;
  const isStored = tap?.db_type === values.db_type;
  if (fieldsOf(values.db_type).includes('url')) {
    return (
      <div className="jp-SvcForm-row jp-SvcTapForm-wide">
        <SecretField
          key="url"
          label={trans.__('URL')}
          input={props.url}
          problem={problems.url}
          placeholder={URL_FORM}
          hint={
            isStored
              ? trans.__('Leave it empty to keep the stored one. It is not shown again.')
              : trans.__('With user and password. It is not shown again.')
          }
          onChange={() => touched('url')}
        />
      </div>
    );
  }
  if (values.db_type === 'sqlite') {
    return (
      <div className="jp-SvcForm-row jp-SvcTapForm-wide">
        <TextField
          label={trans.__('File')}
          value={values.db_name}
          problem={problems.db_name}
          hint={trans.__('A path on the machine of the service, in a folder that it may open')}
          onChange={db_name => set({ db_name })}
        />
      </div>
    );
  }
  return (
    <>
      <div className="jp-SvcForm-row">
        <TextField
          label={trans.__('Host')}
          value={values.db_host}
          problem={problems.db_host}
          placeholder={HOST_FORM}
          onChange={db_host => set({ db_host })}
        />
        <TextField
          label={trans.__('Port')}
          value={values.port}
          problem={problems.port}
          placeholder={PORTS[values.db_type] ?? ''}
          numeric
          onChange={port => set({ port })}
        />
        <TextField
          label={trans.__('Database')}
          value={values.db_name}
          problem={problems.db_name}
          onChange={db_name => set({ db_name })}
        />
      </div>
      <div className="jp-SvcForm-row">
        <TextField
          label={trans.__('User')}
          value={values.db_user}
          problem={problems.db_user}
          onChange={db_user => set({ db_user })}
        />
        <SecretField
          key="password"
          label={trans.__('Password')}
          input={props.password}
          problem={problems.db_passwd}
          hint={
            isStored
              ? trans.__('Leave it empty to keep the stored one.')
              : trans.__('It is not shown again.')
          }
          disabled={values.hasNoPassword}
          onChange={() => touched('db_passwd')}
        />
        {tap && (
          <CheckField
            label={trans.__('No password')}
            checked={values.hasNoPassword}
            onChange={hasNoPassword => set({ hasNoPassword })}
          />
        )}
      </div>
    </>
  );
}

/** Examples, the same in every language. */
const HOST_FORM = 'db.example.org';
const URL_FORM = 'dialect+driver://user:password@host:port/database';

/** The default ports, as hints. */
const PORTS: Readonly<Record<string, string>> = {
  postgresql: '5432',
  mysql: '3306',
  sqlserver: '1433',
  redshift: '5439'
};
