package svc.jupyter.pig;

import java.io.IOException;
import java.lang.reflect.Field;
import java.util.Properties;

import org.apache.hadoop.fs.Path;
import org.apache.pig.backend.datastorage.ContainerDescriptor;
import org.apache.pig.backend.datastorage.DataStorageException;
import org.apache.pig.backend.datastorage.ElementDescriptor;
import org.apache.pig.backend.hadoop.datastorage.HDataStorage;
import org.apache.pig.backend.hadoop.datastorage.HDirectory;
import org.apache.pig.impl.PigContext;

/**
 * A Hadoop file system in which relative locations are in the account's storage, which is another file system.
 *
 * <p>So a script reads and writes the same files locally and on a cluster. Absolute paths belong to the file system.
 */
final class AccountStorage extends HDataStorage {
    private Folder current;

    private AccountStorage(Properties properties, String folder) {
        super(properties);
        current = new Folder(this, new Path(folder));
    }

    /** Resolve the relative locations of a connected context against a folder, given as a URI. */
    static void use(PigContext context, String folder) throws IOException {
        try {
            Field storage = PigContext.class.getDeclaredField("dfs"); // Pig takes it from the settings alone
            storage.setAccessible(true);
            storage.set(context, new AccountStorage(context.getProperties(), folder));
        } catch (ReflectiveOperationException changed) {
            throw new IOException("this version of Pig keeps its file system elsewhere", changed);
        }
    }

    @Override
    public ContainerDescriptor getActiveContainer() {
        return current;
    }

    @Override
    public void setActiveContainer(ContainerDescriptor container) {
        current = new Folder(this, new Path(container.toString()));
    }

    @Override
    public ElementDescriptor asElement(ElementDescriptor element) throws DataStorageException {
        return element.toString().equals(current.toString()) ? current : super.asElement(element);
    }

    /** A folder that keeps its own file system; Pig's class would switch to the cluster's. */
    private static final class Folder extends HDirectory {
        Folder(HDataStorage storage, Path path) {
            super(storage, path);
        }

        @Override
        public String toString() {
            return path.toString();
        }
    }
}
