package svc.jupyter.pig;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.pig.backend.executionengine.ExecException;
import org.apache.pig.data.Tuple;

/**
 * The rows of one DUMP as an Arrow stream on disk, written as they arrive, in constant memory.
 *
 * <p>Rows whose types the script does not declare are read twice: once to find the types, once to write them.
 */
final class Dump {
    /** A source of the rows that can be read again. */
    interface Source {
        Iterator<Tuple> rows() throws ExecException;
    }

    private static final int BATCH_ROWS = 16_384;
    private static final long BATCH_BYTES = 4L << 20;
    private static final long CHECK_EVERY_BYTES = 32L << 20;

    final String alias;
    private final Shape shape;
    private final Path file;
    private final long minFreeBytes;
    private final LongConsumer onRows;
    private long rows;
    private long checkedAt;

    Dump(String alias, Shape shape, Path file, long minFreeBytes, LongConsumer onRows) {
        this.alias = alias;
        this.shape = shape;
        this.file = file;
        this.minFreeBytes = minFreeBytes;
        this.onRows = onRows;
    }

    /** Write all rows and complete the file. */
    void write(Source source) throws IOException {
        if (shape.isCertain()) {
            try {
                writeAll(source);
                return;
            } catch (Rows.Mismatch undeclared) {
                // A function violates its schema: find the types, and write again.
            }
        }
        for (Iterator<Tuple> all = source.rows(); all.hasNext();) {
            shape.observe(all.next());
        }
        try {
            writeAll(source);
        } catch (Rows.Mismatch changed) {
            throw new IOException("the rows of " + alias + " were not the same when read again: " + changed.getMessage());
        }
    }

    /** Return its description: alias, rows, bytes, and the names and types of the columns. */
    Map<String, Object> summary(Path at) throws IOException {
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("alias", alias);
        told.put("file", at.getFileName().toString());
        told.put("rows", rows);
        told.put("size", Files.size(at));
        List<List<String>> columns = new ArrayList<>();
        for (Shape column : shape.parts) {
            columns.add(List.of(column.name, column.typeName()));
        }
        told.put("columns", columns);
        return told;
    }

    private void writeAll(Source source) throws IOException, Rows.Mismatch {
        shape.settle();
        rows = 0;
        List<Field> fields = new ArrayList<>();
        for (Shape column : shape.parts) {
            fields.add(Rows.field(column));
        }
        Files.deleteIfExists(file); // a reader of rows that are written anew must see another file
        try (BufferAllocator allocator = new RootAllocator();
                VectorSchemaRoot batch = VectorSchemaRoot.create(new Schema(fields), allocator);
                FileOutputStream output = new FileOutputStream(file.toFile());
                FileChannel channel = output.getChannel();
                ArrowStreamWriter writer = new ArrowStreamWriter(batch, null, channel)) {
            writer.start();
            Iterator<Tuple> all = source.rows();
            while (all.hasNext()) {
                fill(batch, all);
                writer.writeBatch();
                rows += batch.getRowCount();
                batch.clear();
                onRows.accept(rows);
                checkRoom(channel.position());
            }
            writer.end();
        }
    }

    private void fill(VectorSchemaRoot batch, Iterator<Tuple> all) throws ExecException, Rows.Mismatch {
        Rows values = new Rows();
        int count = 0;
        int columns = shape.parts.size();
        while (count < BATCH_ROWS && values.written < BATCH_BYTES && all.hasNext()) {
            Tuple row = all.next();
            if (row.size() > columns) {
                throw new Rows.Mismatch("a row has " + row.size() + " fields");
            }
            for (int place = 0; place < columns; place++) {
                FieldVector vector = batch.getVector(place);
                values.put(vector, count, shape.parts.get(place), place < row.size() ? row.get(place) : null);
            }
            count++;
        }
        batch.setRowCount(count);
    }

    private void checkRoom(long position) throws IOException {
        if (minFreeBytes == 0 || position - checkedAt < CHECK_EVERY_BYTES) {
            return;
        }
        checkedAt = position;
        File folder = file.getParent().toFile();
        if (folder.getUsableSpace() < minFreeBytes) {
            throw new IOException("the rows of " + alias + " cannot be stored: less than " + (minFreeBytes >> 20)
                + " MiB are left on the service's disk after " + String.format("%,d", rows) + " rows");
        }
    }
}
