package svc.jupyter.hive;

import org.apache.hadoop.hive.metastore.IHMSHandler;
import org.apache.hadoop.hive.metastore.api.NoSuchObjectException;
import org.apache.thrift.TException;

/** Requests missing objects ahead of clients, so that the database's tables are created and its queries compiled. */
final class Warmth {
    private static final String NOTHING = "svc_warmth";

    private Warmth() {}

    static void warm(IHMSHandler handler) throws TException {
        handler.get_all_databases();
        try {
            handler.get_table(NOTHING, NOTHING);
        } catch (NoSuchObjectException expected) {
            // The request itself has read the tables.
        }
        handler.shutdown();
    }
}
