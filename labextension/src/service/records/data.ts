import type { IPagingInfo, Schemas, With } from './contract';

/** A stored connection to a database, without its secrets. */
export type ITap = With<
  Pick<Schemas['DbTap'], 'id' | 'name' | 'db_type' | 'db_host' | 'port' | 'db_name' | 'db_user'>,
  {
    db_host: string | null;
    port: number | null;
    db_name: string | null;
    db_user: string | null;
    active: boolean;
  }
>;

/** A page of taps, newest first. */
export interface ITapList {
  db_taps: ITap[];
  paging_info: IPagingInfo;
}

/** The state and the schemas of a catalogue; times are ISO 8601. */
export type ICatalogue = Pick<Schemas['Catalogue'], 'state' | 'error'> & {
  version: string | null;
  as_of: string | null;
  default_schema: string | null;
  schemas: Schemas['CatalogueSchema'][];
  failing_since: string | null;
};

/** A table or view; `rows` is null where the database does not count cheaply. */
export type ICatalogueTable = With<Schemas['CatalogueTable'], { rows: number | null }>;

/** A part of the tables of a catalogue. */
export type ICatalogueTables = Pick<Schemas['CatalogueTables'], 'total'> & {
  tables: ICatalogueTable[];
};

/** Columns by their tables; `version` is null as long as the catalogue was never read. */
export type ICatalogueColumns = Pick<Schemas['CatalogueColumns'], 'tables'> & {
  version: string | null;
};

/** A column with its type in the database's own words. */
export type IColumn = Schemas['CatalogueColumn'];

/** The tables of a tap as its database lists them now. */
export type ITapTables = Schemas['DbTapTables'];

/** A page of the names of Hive's schemas, and of a schema's tables. */
export interface IHiveSchemas {
  schemas: string[];
  paging_info?: IPagingInfo | null;
}
export interface IHiveTables {
  tables: string[];
  paging_info?: IPagingInfo | null;
}
