package svc.jupyter.hive;

import org.apache.hadoop.hive.metastore.IHMSHandler;
import org.apache.hadoop.hive.metastore.api.NoSuchObjectException;
import org.apache.thrift.TException;

/** Asks for what is not there before anybody else asks: the tables of the database are made, the queries compiled. */
final class Warmth {
    private static final String NOTHING = "svc_warmth";

    private Warmth() {}

    static void warm(IHMSHandler handler) throws TException {
        handler.get_all_databases();
        try {
            handler.get_table(NOTHING, NOTHING);
        } catch (NoSuchObjectException expected) {
            // Its tables have been asked for it.
        }
        handler.shutdown();
    }
}
