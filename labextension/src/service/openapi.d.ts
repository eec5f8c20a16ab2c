// Made from the OpenAPI document by scripts/make_lab_sources.py: change the models of src/svc_jupyter/api.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description The caller's account and who the caller is in it. */
        Account: {
            id: number;
            name: string;
            user_id: number;
            email: string;
            groups: string[];
            features: components["schemas"]["Features"];
            storage_url: string;
            concurrent_command_limit: number;
            /**
             * @default off
             * @enum {string}
             */
            isolation?: "on" | "off";
        };
        /**
         * @description One nominal time of a schedule, or a rerun of it.
         *
         *     `status` is `submitted`, `waiting` (for dependencies), `not_found`, `cancelled`, or, once there is a command, its
         *     status. `nominal_time` is ISO 8601 UTC.
         */
        ActionRecord: {
            id: number;
            periodic_job_id: number;
            sequence_id: number;
            nominal_time: string;
            /** @default 0 */
            rerun_number?: number;
            is_rerun_of?: number | null;
            done: boolean;
            status: string;
            query_hist_id?: number | null;
            dependencies?: components["schemas"]["Dependencies"];
            /** @description Its command, once there is one */
            command?: components["schemas"]["CommandRecord"] | null;
            created_at: string;
            message?: string | null;
        };
        /** @description One run of a command; times are Unix seconds, and exact as ISO 8601 with milliseconds. */
        Attempt: {
            number: number;
            start_time?: number | null;
            end_time?: number | null;
            started_at?: string | null;
            ended_at?: string | null;
            exit_code?: number | null;
            message?: string | null;
        };
        /** @description Whether the cancellation took effect, and what became of the command. */
        CancelAnswer: {
            kill_succeeded: boolean;
            result: string;
        };
        /**
         * @description A catalogue without its tables. Times are ISO 8601 UTC with `Z`.
         *
         *     `version` changes with names and types, so clients can keep what they have read of a version. `reading` is whether
         *     the database is being read at present. `failing_since` is the time of the first failure after the last success.
         *     `dialect` is that of the database's SQL, such as `duckdb`, or `other`; none for a tap that cannot be used.
         */
        Catalogue: {
            state: components["schemas"]["CatalogueState"];
            version?: string | null;
            as_of?: string | null;
            /** @default false */
            reading?: boolean;
            default_schema?: string | null;
            dialect?: string | null;
            schemas?: components["schemas"]["CatalogueSchema"][];
            error?: string | null;
            failing_since?: string | null;
        };
        /** @description A column with its type in the database's own words. */
        CatalogueColumn: {
            name: string;
            type: string;
        };
        /** @description The columns of the requested tables that exist; in answer to a search, only the columns that were found. */
        CatalogueColumns: {
            version?: string | null;
            tables: components["schemas"]["ColumnsOfTable"][];
        };
        /** @description A schema with its number of tables; its name is empty in databases without schemas. */
        CatalogueSchema: {
            name: string;
            tables: number;
        };
        /**
         * @description Whether there is something to show.
         * @enum {string}
         */
        CatalogueState: "filling" | "ready" | "failed";
        /** @description A table or view; `rows` is null where the database does not count cheaply, and may be an estimate. */
        CatalogueTable: {
            schema_name: string;
            name: string;
            type: string;
            rows?: number | null;
            columns: number;
        };
        /** @description A part of the tables, by schema and name; `total` counts all that match. */
        CatalogueTables: {
            version?: string | null;
            tables: components["schemas"]["CatalogueTable"][];
            offset: number;
            total: number;
        };
        /** @description The health of a running cluster; `pages`, an extension, are those that answer now. */
        ClusterHealth: {
            cluster_id: number;
            cluster_inst_id: number;
            metrics: components["schemas"]["HealthMetrics"];
            pages?: components["schemas"]["ClusterPage"][];
        };
        /** @description Samples of a running cluster over the last `interval` seconds. */
        ClusterMetrics: {
            cluster_id: number;
            cluster_inst_id: number;
            interval: number;
            metrics: {
                [key: string]: components["schemas"]["MetricSeries"];
            };
        };
        /** @description A node; times are ISO 8601 UTC with `Z`. */
        ClusterNode: {
            role: components["schemas"]["NodeRole"];
            hostname: string;
            private_ip: string;
            private_dns: string;
            instance_type: string;
            /** @default false */
            is_spot_instance?: boolean;
            status: components["schemas"]["NodeStatus"];
            up_time?: string | null;
            last_seen_time?: string | null;
        };
        /** @description A page in which an engine shows itself in a browser, with its address as the service's machine has it. */
        ClusterPage: {
            name: string;
            url: string;
        };
        /** @description A cluster as answers show it: its configuration with `id` and `state`, secrets as `<hidden>`. */
        ClusterRecord: {
            id: number;
            label: string[];
            state: components["schemas"]["ClusterState"];
            /** @default false */
            enable_ganglia_monitoring?: boolean;
            /** @default false */
            disallow_cluster_termination?: boolean;
            idle_cluster_timeout?: number | null;
            node_bootstrap_file?: string | null;
            provider?: string | null;
            security_settings?: {
                [key: string]: unknown;
            };
            cloud_settings?: {
                [key: string]: unknown;
            };
            hadoop_settings?: {
                [key: string]: unknown;
            };
            hive_settings?: {
                [key: string]: unknown;
            };
            pig_settings?: {
                [key: string]: unknown;
            };
            presto_settings?: {
                [key: string]: unknown;
            };
            external?: {
                [key: string]: unknown;
            };
            node_configuration?: {
                [key: string]: unknown;
            };
        };
        /**
         * @description Where a cluster stands.
         * @enum {string}
         */
        ClusterState: "DOWN" | "PENDING" | "UP" | "TERMINATING";
        /** @description Where a cluster stands, with its nodes; times are ISO 8601 UTC with `Z`. */
        ClusterStateRecord: {
            state: components["schemas"]["ClusterState"];
            cluster_id: number;
            config_id: number;
            cluster_inst_id?: number | null;
            start_at?: string | null;
            up_at?: string | null;
            down_at?: string | null;
            terminate_reason?: string | null;
            message?: string | null;
            nodes?: components["schemas"]["ClusterNode"][];
        };
        /** @description The columns of a table, in its order. */
        ColumnsOfTable: {
            schema_name: string;
            name: string;
            columns: components["schemas"]["CatalogueColumn"][];
        };
        /**
         * @description What a command made besides its result: DUMPs and STOREs of a Pig script, paragraphs and TABLEs of a note.
         *
         *     `failure` is of an SQL script that failed.
         */
        CommandOutputs: {
            dumps?: components["schemas"]["DumpRecord"][];
            stores?: components["schemas"]["StoreRecord"][];
            tables?: components["schemas"]["NoteTable"][];
            paragraphs?: components["schemas"]["NoteParagraph"][];
            note?: components["schemas"]["RunNote"] | null;
            failure?: components["schemas"]["StatementFailure"] | null;
        };
        /** @description A command as every submission and look-up returns it. */
        CommandRecord: {
            id: number;
            path: string;
            status: components["schemas"]["CommandStatus"];
            created_at: string;
            submit_time: number;
            start_time?: number | null;
            end_time?: number | null;
            command_type: string;
            /** @default 0 */
            progress?: number;
            service_session_id?: number | null;
            qlog?: string | null;
            resolved_macros?: {
                [key: string]: unknown;
            }[] | null;
            pid?: number | null;
            /** @default generic */
            template?: string;
            /** @default false */
            can_notify?: boolean;
            /** @default -1 */
            num_result_dir?: number;
            pool?: string | null;
            timeout?: number | null;
            name?: string | null;
            label?: string | null;
            /** @default API */
            command_source?: string;
            account_id: number;
            user_id: number;
            meta_data: components["schemas"]["MetaData"];
            command: {
                [key: string]: unknown;
            };
            nominal_time?: string | null;
            sequence_id?: number | null;
            saved_query_mutable_id?: number | null;
            uid?: number | null;
            perms?: string | null;
            instance?: string | null;
            /** @description The notebook whose cell submitted it, empty where its name is not known */
            notebook?: string | null;
            /** @description The exact `submit_time`: ISO 8601 with milliseconds */
            submitted_at?: string | null;
            /** @description The exact `start_time`: ISO 8601 with milliseconds */
            started_at?: string | null;
            /** @description The exact `end_time`: ISO 8601 with milliseconds */
            ended_at?: string | null;
            /** @default false */
            throttled?: boolean;
            attempts?: components["schemas"]["Attempt"][];
            /** @description Why the command waits, failed or was cancelled, in one or a few lines */
            message?: string | null;
            /** @default 0 */
            retry?: number;
            retry_delay?: number | null;
            /** @description Rows of the result, once known */
            result_rows?: number | null;
            /** @description Bytes of the stored result, once done */
            result_bytes?: number | null;
            /** @description What a Pig script or a note made; why SQL failed */
            outputs?: components["schemas"]["CommandOutputs"] | null;
            /** @description The composite command that this is a sub-command of */
            parent_id?: number | null;
            /** @description Which of its sub-commands this is, from 1 */
            child_number?: number | null;
        };
        /**
         * @description Where a command stands. A retry keeps `running`; there is no way back from a final status.
         * @enum {string}
         */
        CommandStatus: "waiting" | "running" | "done" | "error" | "cancelled";
        /**
         * @description A file, notebook or folder.
         *
         *     `content` and `format` are null unless the content was asked for: a notebook's is its JSON (version 4), a folder's
         *     the models of what is in it, a file's its text, or base64 when it is not UTF-8. `size` is in bytes, null for a
         *     folder; `hash` is given where it was asked for; `message` says what of a notebook was repaired when it was saved or
         *     read, and what is wrong with one that can still be read, or what a search has left out.
         */
        Contents: {
            name: string;
            path: string;
            /** @enum {string} */
            type: "directory" | "file" | "notebook";
            format?: ("json" | "text" | "base64") | null;
            content?: unknown;
            created: string;
            last_modified: string;
            mimetype?: string | null;
            size?: number | null;
            writable: boolean;
            hash?: string | null;
            hash_algorithm?: string | null;
            message?: string | null;
        };
        /** @description Each daemon that a cluster of this type has. */
        DaemonsHealth: {
            hive_metastore?: components["schemas"]["ServiceHealth"] | null;
            hs2_server?: components["schemas"]["ServiceHealth"] | null;
            zeppelin?: {
                [key: string]: unknown;
            } | null;
            resourcemanager?: string | null;
            namenode?: string | null;
        };
        /** @description A tap without its secrets. */
        DbTap: {
            id: number;
            name: string;
            db_type: string;
            db_host?: string | null;
            port?: number | null;
            db_name?: string | null;
            db_user?: string | null;
            /** @default true */
            active?: boolean;
            account_id: number;
            user_id: number;
            created_at: string;
        };
        /** @description A table or view of the tap's database. */
        DbTapTable: {
            name: string;
            schema_name?: string | null;
            type: string;
        };
        /** @description The tables that the tap's user can see. */
        DbTapTables: {
            tables: components["schemas"]["DbTapTable"][];
        };
        /** @description What an action waited for: paths and partitions. */
        Dependencies: {
            found?: string[];
            not_found?: string[];
        };
        /** @description What must be there before an action runs. */
        DependencyInfo: {
            files?: components["schemas"]["FileDependency"][];
            hive_tables?: components["schemas"]["HiveTableDependency"][];
        };
        /** @description The rows of one DUMP of a Pig command: `GET commands/ID/results?dump=` and its alias or number gives them. */
        DumpRecord: {
            alias: string;
            rows: number;
            /** @description bytes of the stored rows */
            size: number;
            /** @description name and Arrow type of each column */
            columns: [
                string,
                string
            ][];
        };
        /** @description What depends on the cluster's type; YARN's figures need `enable_ganglia_monitoring`. */
        EngineHealth: {
            yarn?: components["schemas"]["YarnHealth"] | null;
            spark?: {
                [key: string]: unknown;
            } | null;
            presto?: {
                [key: string]: unknown;
            } | null;
        };
        /** @description The cluster of the provider `external`: one address, and how to log in there; the password is write-only. */
        ExternalSettings: {
            presto_url?: string | null;
            trino_url?: string | null;
            hiveserver2?: string | null;
            spark_connect?: string | null;
            user?: string | null;
            password?: string | null;
            tls_ca?: string | null;
            source?: string | null;
            session_properties?: {
                [key: string]: string;
            };
        };
        /** @description Pools of YARN's fair scheduler: the default one, and more in the scheduler's own XML. */
        FairSchedulerSettings: {
            default_pool?: string | null;
            fairscheduler_config_xml?: string | null;
        };
        /** @description What an administrator switched on; by default all of it is off. */
        Features: {
            /** @default false */
            jupyter_notebooks?: boolean;
            /** @default false */
            package_management?: boolean;
        };
        /**
         * @description Files that must be there before an action runs: `path` is a strftime mask, rendered at each step of the window.
         *
         *     Without `interval` the steps are the schedule's own; `done_flag` names a file inside the path.
         */
        FileDependency: {
            id?: string | null;
            path: string;
            /** @default 0 */
            window_start?: number;
            /** @default 0 */
            window_end?: number;
            done_flag?: string | null;
            interval?: {
                [key: string]: number;
            } | null;
            initial_instance?: string | null;
            time_zone?: string | null;
        };
        /** @description A folder. `location` is its own, to be given to the other calls; a root has no parent and nobody made it. */
        Folder: {
            id: number;
            name: string;
            location: string;
            type: string;
            parent_id?: number | null;
            user_id?: number | null;
            created_at: string;
        };
        /** @description Hadoop, or Spark on it. */
        HadoopSettings: {
            /** @default true */
            use_hadoop2?: boolean;
            /** @default false */
            use_spark?: boolean;
            custom_config?: string | null;
            fairscheduler_settings?: components["schemas"]["FairSchedulerSettings"];
        };
        /** @description One live look; `captured_at` is ISO 8601 UTC with `Z`. */
        HealthMetrics: {
            captured_at: string;
            engine: components["schemas"]["EngineHealth"];
            daemons: components["schemas"]["DaemonsHealth"];
            system: components["schemas"]["SystemHealth"];
        };
        /** @description How full a JVM's heap is; `status` is green, from 80 % yellow, from 95 % red. */
        Heap: {
            usage_percent: string;
            status: string;
        };
        /**
         * @description Partitions of a Hive table: a column's value is a strftime mask or an array of values, all of which must exist.
         *
         *     Steps before `initial_instance` count as found.
         */
        HiveTableDependency: {
            schema: string;
            name: string;
            /** @default 0 */
            window_start?: number;
            /** @default 0 */
            window_end?: number;
            interval?: {
                [key: string]: number;
            } | null;
            columns: {
                [key: string]: string | string[];
            };
            initial_instance?: string | null;
            time_zone?: string | null;
        };
        /** @description The newest action of a schedule, shown with the schedule; `status` as in `ActionRecord`. */
        LastAction: {
            id: number;
            sequence_id: number;
            nominal_time: string;
            done: boolean;
            status: string;
            query_hist_id?: number | null;
            message?: string | null;
        };
        /** @description The coordinator's machine; `cpu_usage` and `disk_usage` are percentages. */
        MasterHealth: {
            cpu_usage: string;
            disk_usage: string;
            spotloss_count: number;
        };
        /** @description Where a command's results and logs are, relative to the API's base. */
        MetaData: {
            results_resource: string;
            logs_resource: string;
        };
        /** @description A metric's samples, oldest first: pairs of Unix seconds and value. */
        MetricSeries: {
            unit: string;
            samples?: [
                number,
                number
            ][];
        };
        /** @description How many workers, and of what kind. */
        NodeConfiguration: {
            /** @default 1 */
            initial_nodes?: number;
            /** @default 1 */
            max_nodes?: number;
            /** @default local */
            master_instance_type?: string;
            /** @default local */
            slave_instance_type?: string;
            /**
             * @default ondemand
             * @enum {string}
             */
            slave_request_type?: "ondemand" | "spot" | "hybrid";
            /** @default false */
            use_stable_spot_nodes?: boolean;
            spot_instance_settings?: components["schemas"]["SpotInstanceSettings"];
        };
        /**
         * @description What a node does in its cluster.
         * @enum {string}
         */
        NodeRole: "master" | "worker";
        /**
         * @description Where a node of a cluster stands; one that is gone leaves the list.
         * @enum {string}
         */
        NodeStatus: "STARTING" | "RUNNING" | "DECOMMISSIONING" | "LOST";
        /**
         * @description A dynamic form of a note, with the value it has; a password's value is never kept.
         *
         *     `scope` is the id of the paragraph it stands in, or null for one of the whole note.
         */
        NoteForm: {
            name: string;
            /** @enum {string} */
            type: "text" | "password" | "select" | "checkbox";
            label?: string | null;
            default: string | string[];
            /** @default , */
            separator?: string;
            options?: {
                [key: string]: string;
            }[];
            /** @default false */
            hidden?: boolean;
            scope?: string | null;
            value?: unknown;
        };
        /** @description How a paragraph of a note's run ended. `line` counts from 1 in its text; `tables` are numbers, from 1. */
        NoteParagraph: {
            id: string;
            number: number;
            title?: string | null;
            language: string;
            status: string;
            seconds?: number | null;
            tables?: number[];
            error?: string | null;
            line?: number | null;
        };
        /**
         * @description A note without its document.
         *
         *     `location` is the folder it is in. `version` counts the edits and is the note's ETag; `revision` is the number of
         *     the document's.
         */
        NoteSummary: {
            id: number;
            name: string;
            location: string;
            folder_id: number;
            note_type: string;
            cluster_id?: number | null;
            version: number;
            revision: number;
            account_id: number;
            user_id: number;
            created_at: string;
            updated_by: number;
            updated_at: string;
        };
        /** @description The rows of one TABLE that a note showed: `GET commands/ID/results?table=` and its number, from 1, gives them. */
        NoteTable: {
            /** @description the paragraph's id */
            paragraph: string;
            title?: string | null;
            rows: number;
            /** @description bytes of the stored rows */
            size: number;
            /** @description name and Arrow type of each column */
            columns: [
                string,
                string
            ][];
        };
        /** @description Who is notified of a schedule's runs; the digest's time is in the schedule's zone. */
        Notification: {
            /** @default false */
            is_digest?: boolean;
            /** @default 0 */
            digest_time_hour?: number;
            /** @default 0 */
            digest_time_minute?: number;
            /** @default false */
            notify_failure?: boolean;
            /** @default false */
            notify_success?: boolean;
            notification_channels?: number[];
        };
        /** @description A channel. Of a webhook's URL `target` shows scheme and host alone. */
        NotificationChannel: {
            id: number;
            name: string;
            type: string;
            target: string;
            account_id?: number | null;
            user_id?: number | null;
            created_at?: string | null;
            /** @description Why nothing can arrive there as things stand */
            warning?: string | null;
        };
        /** @description Where a page stands in its list; `next_page` and `previous_page` are null at the ends. */
        PagingInfo: {
            page: number;
            per_page: number;
            next_page?: number | null;
            previous_page?: number | null;
        };
        /** @description Presto instead of Hadoop. */
        PrestoSettings: {
            /** @default false */
            enable_presto?: boolean;
            custom_config?: string | null;
        };
        /**
         * @description A command with its macros put in, and their values.
         *
         *     With a timetable in the request also when it runs, in words and as the next nominal times (ISO 8601 UTC).
         */
        Preview: {
            command: {
                [key: string]: unknown;
            };
            macros: {
                [key: string]: unknown;
            };
            description?: string | null;
            next_times?: string[] | null;
        };
        /** @description Results as text: tab between fields, CRLF after each row; or, when large, where they lie. */
        Results: {
            inline: boolean;
            results?: string | null;
            result_location?: string[] | null;
        };
        /** @description A run under way that is late by `due_by`, or takes long by `longer_than`; times are ISO 8601 UTC. */
        RunAlert: {
            /** @enum {string} */
            alert: "late" | "long";
            action_id: number;
            nominal_time: string;
            /** @description When it became true */
            since: string;
        };
        /** @description The note that was run, and what became of the results in it: `saved`, and `edited` when its text changed. */
        RunNote: {
            id: number;
            name: string;
            /** @description the revision that was run */
            revision: number;
            /** @default false */
            edited?: boolean;
            /** @default false */
            saved?: boolean;
            message?: string | null;
        };
        /** @description A schedule. Times are `YYYY-MM-DD HH:MM` in `time_zone`. */
        ScheduleRecord: {
            id: number;
            name: string;
            status: components["schemas"]["ScheduleStatus"];
            command_type: string;
            command: {
                [key: string]: unknown;
            };
            macros?: {
                [key: string]: string;
            }[];
            start_time?: string | null;
            end_time?: string | null;
            frequency?: number | null;
            time_unit?: string | null;
            cron_expression?: string | null;
            /** @default UTC */
            time_zone?: string;
            time_out?: number | null;
            command_timeout?: string | number | null;
            /** @default 1 */
            concurrency?: number;
            /** @default false */
            no_catch_up?: boolean;
            label?: string | null;
            dependency_info?: {
                [key: string]: unknown;
            };
            incremental?: {
                [key: string]: unknown;
            };
            next_materialized_time?: string | null;
            user_id?: number | null;
            template?: string | null;
            pool?: string | null;
            can_notify?: boolean | null;
            is_digest?: boolean | null;
            digest_time_hour?: number | null;
            digest_time_minute?: number | null;
            email_list?: string | null;
            bitmap?: number | null;
            retry?: number | null;
            retry_delay?: number | null;
            created_at?: string | null;
            /** @description Whether a label was given; without one `label` says default, and a note runs on its own cluster */
            has_label?: boolean | null;
            tags?: string | null;
            notification?: {
                [key: string]: unknown;
            } | null;
            /** @description HH:MM in `time_zone`: a run that ends later is reported */
            due_by?: string | null;
            /** @description A run that takes this many times the median of the last 30 is reported */
            longer_than?: number | null;
            /** @description Its runs under way that are late or take long */
            alerts?: components["schemas"]["RunAlert"][] | null;
            /** @description When it runs, in words */
            description?: string | null;
            /** @description Its newest action; only in lists */
            last_action?: components["schemas"]["LastAction"] | null;
        };
        /**
         * @description Where a schedule stands.
         * @enum {string}
         */
        ScheduleStatus: "RUNNING" | "SUSPENDED" | "DONE" | "KILLED";
        /**
         * @description Body of `PUT scheduler/ID`: the changed attributes; an empty `end_time` means none.
         *
         *     `status` asks for a change of state instead: `suspend`, `resume` (which takes `no_catch_up`) or `kill`.
         */
        ScheduleUpdate: {
            command?: {
                [key: string]: unknown;
            } | null;
            start_time?: string | null;
            end_time?: string | null;
            frequency?: number | null;
            time_unit?: components["schemas"]["TimeUnit"] | null;
            cron_expression?: string | null;
            name?: string | null;
            label?: string | null;
            tags?: string | null;
            macros?: {
                [key: string]: string;
            }[] | null;
            no_catch_up?: boolean | null;
            time_zone?: string | null;
            command_timeout?: number | null;
            time_out?: number | null;
            concurrency?: number | null;
            retry?: number | null;
            retry_delay?: number | null;
            pool?: string | null;
            dependency_info?: components["schemas"]["DependencyInfo"] | null;
            notification?: components["schemas"]["Notification"] | null;
            can_notify?: boolean | null;
            /** @description HH:MM in `time_zone`: a message when a run has not ended by then; empty for none */
            due_by?: string | null;
            /** @description A message when a run takes this many times the median of the last 30; 0 for none */
            longer_than?: number | null;
            status?: ("suspend" | "resume" | "kill") | null;
            /** @description May be repeated, not changed */
            command_type?: string | null;
        };
        /** @description A service: whether its process is there and whether it answers; `reason` says why not. */
        ServiceHealth: {
            responsiveness_status: string;
            liveliness_status: string;
            heap: components["schemas"]["Heap"];
            reason?: string | null;
        };
        /** @description Validated, stored and shown; the providers of this version have no spot machines. */
        SpotInstanceSettings: {
            /** @default 100 */
            maximum_bid_price_percentage?: string;
            /** @default 10 */
            timeout_for_request?: number;
            /** @default 50 */
            maximum_spot_instance_percentage?: number;
        };
        /**
         * @description Why a statement of an SQL script failed, in parts; the record's `message` has the same as one text.
         *
         *     `line` and `column` count from 1 in the whole script; null where the engine reports no place. `text` is the line.
         */
        StatementFailure: {
            /** @description the engine's own words */
            reason: string;
            /** @description `query`, or the script's location */
            source: string;
            /** @description the tap or cluster, and its type */
            target: string;
            line?: number | null;
            column?: number | null;
            text?: string | null;
            /** @description known columns or tables that are like an unknown one, the likeliest first */
            did_you_mean?: string[];
            hint?: string | null;
        };
        /** @description What one STORE of a Pig command wrote; what its store function does not count is null. */
        StoreRecord: {
            alias: string | null;
            location: string;
            rows?: number | null;
            bytes?: number | null;
        };
        /** @description The machines; `workers` is an extension, and empty where YARN does not answer or is not used. */
        SystemHealth: {
            master: components["schemas"]["MasterHealth"];
            workers?: components["schemas"]["WorkerHealth"][];
        };
        /**
         * @description What `frequency` counts.
         * @enum {string}
         */
        TimeUnit: "minutes" | "hours" | "days" | "weeks" | "months";
        /** @description A worker that YARN answers for, with the containers that run there now. */
        WorkerHealth: {
            private_dns: string;
            containers: number;
        };
        /** @description Containers that wait for room now; failed and killed since the cluster started. */
        YarnContainers: {
            pending: string;
            failed: string;
            killed: string;
        };
        /** @description YARN's figures; `memory` is the percentage that containers hold. */
        YarnHealth: {
            memory: string;
            containers: components["schemas"]["YarnContainers"];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
