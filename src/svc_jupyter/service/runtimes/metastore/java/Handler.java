package svc.jupyter.hive;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.api.MetaException;

/** Hive's handler of calls, which also reports its heap; public since Hive calls it by reflection. */
public final class Handler extends HiveMetaStore.HMSHandler {
    /** A pseudo setting: its value is the used heap and its limit, in bytes. */
    private static final String HEAP = "svc.heap";

    Handler(HiveConf conf) throws MetaException {
        super("metastore", conf, false);
    }

    /** Declared here because Hive looks it up in the class itself. */
    @Override
    public void init() throws MetaException {
        super.init();
    }

    @Override
    public String getMetaConf(String key) throws MetaException {
        if (!key.equals(HEAP)) {
            return super.getMetaConf(key);
        }
        MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        return heap.getUsed() + " " + heap.getMax();
    }
}
