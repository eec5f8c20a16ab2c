package svc.jupyter.pig;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.Decimal256Vector;
import org.apache.arrow.vector.DecimalVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.TimeStampMilliTZVector;
import org.apache.arrow.vector.VarBinaryVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.MapVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.TimeUnit;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.pig.backend.executionengine.ExecException;
import org.apache.pig.data.DataBag;
import org.apache.pig.data.DataByteArray;
import org.apache.pig.data.Tuple;
import org.apache.pig.impl.util.TupleFormat;
import org.joda.time.DateTime;

/** Writes Pig's values to Arrow vectors. */
final class Rows {
    private static final int DECIMAL_128_DIGITS = 38;

    /** Bytes of text written, to limit the size of a batch. */
    long written;

    /** A value has another type than its column: the rows must be read first. */
    static final class Mismatch extends Exception {
        private static final long serialVersionUID = 1L;

        Mismatch(String message) {
            super(message, null, false, false);
        }
    }

    /** Return the Arrow field of a settled shape. */
    static Field field(Shape shape) {
        List<Field> children = new ArrayList<>();
        if (shape.type == Shape.Type.MAP) {
            Field key = new Field("key", FieldType.notNullable(ArrowType.Utf8.INSTANCE), null);
            Shape held = shape.parts.get(0);
            held.name = "value";
            FieldType entry = FieldType.notNullable(ArrowType.Struct.INSTANCE);
            children.add(new Field("entries", entry, List.of(key, field(held))));
        } else {
            if (shape.type == Shape.Type.BAG) {
                shape.parts.get(0).name = "item";
            }
            for (Shape part : shape.parts) {
                children.add(field(part));
            }
        }
        boolean isNested = shape.type == Shape.Type.MAP || shape.type == Shape.Type.BAG || shape.type == Shape.Type.TUPLE;
        return new Field(shape.name, FieldType.nullable(arrowType(shape)), isNested ? children : null);
    }

    private static ArrowType arrowType(Shape shape) {
        switch (shape.type) {
            case BOOLEAN: return ArrowType.Bool.INSTANCE;
            case INTEGER: return new ArrowType.Int(32, true);
            case LONG: return new ArrowType.Int(64, true);
            case FLOAT: return new ArrowType.FloatingPoint(FloatingPointPrecision.SINGLE);
            case DOUBLE: return new ArrowType.FloatingPoint(FloatingPointPrecision.DOUBLE);
            case DATETIME: return new ArrowType.Timestamp(TimeUnit.MILLISECOND, "UTC");
            case DECIMAL:
                boolean isShort = shape.digits() <= DECIMAL_128_DIGITS;
                return new ArrowType.Decimal(isShort ? DECIMAL_128_DIGITS : 76, shape.scale, isShort ? 128 : 256);
            case BYTES: return ArrowType.Binary.INSTANCE;
            case TUPLE: return ArrowType.Struct.INSTANCE;
            case BAG: return ArrowType.List.INSTANCE;
            case MAP: return new ArrowType.Map(false);
            default: return ArrowType.Utf8.INSTANCE;
        }
    }

    /** Set a value, or null, at an index of a vector of the shape's type. */
    void put(FieldVector vector, int at, Shape shape, Object value) throws Mismatch, ExecException {
        if (value == null) {
            vector.setNull(at);
            return;
        }
        switch (shape.type) {
            case TEXT: putText((VarCharVector) vector, at, value); break;
            case BYTES: putBytes((VarBinaryVector) vector, at, value); break;
            case TUPLE: putTuple((StructVector) vector, at, shape, checked(value, Tuple.class, shape)); break;
            case BAG: putBag((ListVector) vector, at, shape, checked(value, DataBag.class, shape)); break;
            case MAP: putMap((MapVector) vector, at, shape, checked(value, Map.class, shape)); break;
            case BOOLEAN: ((BitVector) vector).setSafe(at, checked(value, Boolean.class, shape) ? 1 : 0); break;
            case DATETIME:
                ((TimeStampMilliTZVector) vector).setSafe(at, checked(value, DateTime.class, shape).getMillis());
                break;
            default: putNumber(vector, at, shape, checked(value, Number.class, shape));
        }
    }

    private void putNumber(FieldVector vector, int at, Shape shape, Number value) throws Mismatch {
        switch (shape.type) {
            case INTEGER: ((IntVector) vector).setSafe(at, checked(value, Integer.class, shape)); break;
            case LONG:
                if (!(value instanceof Long || value instanceof Integer)) {
                    throw mismatch(value, shape);
                }
                ((BigIntVector) vector).setSafe(at, value.longValue());
                break;
            case FLOAT: ((Float4Vector) vector).setSafe(at, checked(value, Float.class, shape)); break;
            case DOUBLE: ((Float8Vector) vector).setSafe(at, value.doubleValue()); break;
            default: putDecimal(vector, at, shape, value);
        }
    }

    private static void putDecimal(FieldVector vector, int at, Shape shape, Number value) {
        BigDecimal number = Shape.decimal(value).setScale(shape.scale, RoundingMode.UNNECESSARY);
        if (vector instanceof DecimalVector) {
            ((DecimalVector) vector).setSafe(at, number);
        } else {
            ((Decimal256Vector) vector).setSafe(at, number);
        }
    }

    private void putText(VarCharVector vector, int at, Object value) throws ExecException {
        byte[] bytes = value instanceof DataByteArray
            ? ((DataByteArray) value).get() : text(value).getBytes(StandardCharsets.UTF_8);
        written += bytes.length;
        vector.setSafe(at, bytes);
    }

    private void putBytes(VarBinaryVector vector, int at, Object value) throws ExecException {
        byte[] bytes = value instanceof DataByteArray
            ? ((DataByteArray) value).get() : text(value).getBytes(StandardCharsets.UTF_8);
        written += bytes.length;
        vector.setSafe(at, bytes);
    }

    /** Return a value as DUMP prints it. */
    private static String text(Object value) throws ExecException {
        if (value instanceof String) {
            return (String) value;
        }
        return value instanceof Tuple ? TupleFormat.format((Tuple) value) : String.valueOf(value);
    }

    private void putTuple(StructVector vector, int at, Shape shape, Tuple value) throws Mismatch, ExecException {
        if (value.size() > shape.parts.size()) {
            throw mismatch(value, shape);
        }
        vector.setIndexDefined(at);
        for (int place = 0; place < shape.parts.size(); place++) {
            Object held = place < value.size() ? value.get(place) : null;
            put((FieldVector) vector.getChildByOrdinal(place), at, shape.parts.get(place), held);
        }
    }

    private void putBag(ListVector vector, int at, Shape shape, DataBag value) throws Mismatch, ExecException {
        int start = vector.startNewValue(at);
        FieldVector items = vector.getDataVector();
        int count = 0;
        for (Tuple tuple : value) {
            put(items, start + count++, shape.parts.get(0), tuple);
            written += Long.BYTES;
        }
        vector.endValue(at, count);
    }

    private void putMap(MapVector vector, int at, Shape shape, Map<?, ?> value) throws Mismatch, ExecException {
        int start = vector.startNewValue(at);
        StructVector entries = (StructVector) vector.getDataVector();
        int count = 0;
        for (Map.Entry<?, ?> entry : value.entrySet()) {
            int place = start + count++;
            entries.setIndexDefined(place);
            putText((VarCharVector) entries.getChildByOrdinal(0), place, entry.getKey());
            put((FieldVector) entries.getChildByOrdinal(1), place, shape.parts.get(0), entry.getValue());
        }
        vector.endValue(at, count);
    }

    private static <T> T checked(Object value, Class<T> wanted, Shape shape) throws Mismatch {
        if (!wanted.isInstance(value)) {
            throw mismatch(value, shape);
        }
        return wanted.cast(value);
    }

    private static Mismatch mismatch(Object value, Shape shape) {
        return new Mismatch(shape.name + " is " + shape.type + ", and a value is " + value.getClass().getSimpleName());
    }
}
