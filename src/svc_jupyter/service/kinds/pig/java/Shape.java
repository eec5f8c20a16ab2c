package svc.jupyter.pig;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;

import org.apache.pig.backend.executionengine.ExecException;
import org.apache.pig.data.DataBag;
import org.apache.pig.data.DataByteArray;
import org.apache.pig.data.DataType;
import org.apache.pig.data.Tuple;
import org.apache.pig.impl.logicalLayer.schema.Schema;
import org.joda.time.DateTime;

/**
 * The type of a column, or of what is nested in one.
 *
 * <p>Pig has the types that the script declares, and none (bytearray) elsewhere. A shape starts as the declared type and
 * is widened by each value until it fits all of them.
 */
final class Shape {
    enum Type { UNKNOWN, BOOLEAN, INTEGER, LONG, FLOAT, DOUBLE, DATETIME, DECIMAL, BYTES, TEXT, TUPLE, BAG, MAP }

    String name;
    Type type = Type.UNKNOWN;
    /** The fields of a tuple, the tuple of a bag, or the value of a map. */
    final List<Shape> parts = new ArrayList<>();
    /** A decimal's digits before and after the point. */
    int whole = 1;
    int scale;
    /** Whether the script declares the whole type, so that the values need not be read before they are written. */
    private boolean isDeclared;

    Shape(String name) {
        this.name = name;
    }

    /** Return the shape of a relation's rows; an unknown schema has no columns yet. */
    static Shape ofRows(Schema schema) {
        Shape rows = new Shape("rows");
        rows.type = Type.TUPLE;
        rows.isDeclared = schema != null && schema.size() > 0;
        if (schema != null) {
            rows.declareFields(schema);
        }
        return rows;
    }

    /** Whether everything in it is declared. */
    boolean isCertain() {
        if (!isDeclared) {
            return false;
        }
        for (Shape part : parts) {
            if (!part.isCertain()) {
                return false;
            }
        }
        return true;
    }

    private void declareFields(Schema schema) {
        for (Schema.FieldSchema field : schema.getFields()) {
            Shape part = new Shape(field.alias);
            part.declare(field);
            parts.add(part);
        }
    }

    private void declare(Schema.FieldSchema field) {
        isDeclared = true;
        switch (field.type) {
            case DataType.BOOLEAN: type = Type.BOOLEAN; break;
            case DataType.INTEGER: type = Type.INTEGER; break;
            case DataType.LONG: type = Type.LONG; break;
            case DataType.FLOAT: type = Type.FLOAT; break;
            case DataType.DOUBLE: type = Type.DOUBLE; break;
            case DataType.DATETIME: type = Type.DATETIME; break;
            case DataType.CHARARRAY: type = Type.TEXT; break;
            case DataType.TUPLE: type = Type.TUPLE; declareNested(field.schema); break;
            case DataType.BAG: type = Type.BAG; declareNested(field.schema); break;
            case DataType.MAP: type = Type.MAP; declareNested(field.schema); break;
            default: isDeclared = false; // bytearray, and numbers whose digits only the values tell
        }
    }

    /** A nested schema: fields of a tuple, the tuple of a bag, the value of a map. */
    private void declareNested(Schema schema) {
        isDeclared = schema != null && schema.size() > 0;
        if (!isDeclared) {
            return;
        }
        boolean isBagOfFields = type == Type.BAG && !(schema.size() == 1 && isTuple(schema));
        if (isBagOfFields) { // some loaders leave the tuple out
            Shape tuple = new Shape(null);
            tuple.type = Type.TUPLE;
            tuple.isDeclared = true;
            tuple.declareFields(schema);
            parts.add(tuple);
        } else {
            declareFields(schema);
        }
    }

    private static boolean isTuple(Schema schema) {
        return schema.getFields().get(0).type == DataType.TUPLE;
    }

    /** Return the part at a position; create it if there is none. */
    private Shape part(int place) {
        while (parts.size() <= place) {
            parts.add(new Shape(null));
        }
        return parts.get(place);
    }

    /** Widen the shape so that it fits a value. */
    void observe(Object value) throws ExecException {
        if (value == null) {
            return;
        }
        if (value instanceof Tuple && fits(Type.TUPLE)) {
            Tuple tuple = (Tuple) value;
            for (int place = 0; place < tuple.size(); place++) {
                part(place).observe(tuple.get(place));
            }
        } else if (value instanceof DataBag && fits(Type.BAG)) {
            for (Tuple tuple : (DataBag) value) {
                part(0).observe(tuple);
            }
        } else if (value instanceof Map && fits(Type.MAP)) {
            for (Object held : ((Map<?, ?>) value).values()) {
                part(0).observe(held);
            }
        } else {
            observeScalar(value);
        }
    }

    /** Become a nested type unless another type was seen; return whether the shape has that type now. */
    private boolean fits(Type nested) {
        if (type == Type.UNKNOWN) {
            type = nested;
        }
        return type == nested;
    }

    private void observeScalar(Object value) {
        Type seen = typeOf(value);
        if (seen == Type.DECIMAL) {
            BigDecimal number = decimal(value);
            scale = Math.max(scale, number.scale());
            whole = Math.max(whole, number.precision() - number.scale());
        }
        if (type != seen) {
            type = type == Type.UNKNOWN ? seen : wider(type, seen);
        }
    }

    /** Return the type that fits the values of both. */
    private static Type wider(Type one, Type other) {
        Type first = one.ordinal() <= other.ordinal() ? one : other;
        Type second = first == one ? other : one;
        boolean areNumbers = first.ordinal() >= Type.INTEGER.ordinal() && second.ordinal() <= Type.DOUBLE.ordinal();
        if (areNumbers) {
            return second == Type.FLOAT ? Type.DOUBLE : second; // a float does not hold every int
        }
        return second == Type.TEXT && first == Type.BYTES ? Type.BYTES : Type.TEXT;
    }

    private static Type typeOf(Object value) {
        if (value instanceof String) {
            return Type.TEXT;
        } else if (value instanceof Integer) {
            return Type.INTEGER;
        } else if (value instanceof Long) {
            return Type.LONG;
        } else if (value instanceof Double) {
            return Type.DOUBLE;
        } else if (value instanceof Float) {
            return Type.FLOAT;
        } else if (value instanceof Boolean) {
            return Type.BOOLEAN;
        } else if (value instanceof DateTime) {
            return Type.DATETIME;
        } else if (value instanceof BigDecimal || value instanceof BigInteger) {
            return Type.DECIMAL;
        } else if (value instanceof DataByteArray) {
            return isText(((DataByteArray) value).get()) ? Type.TEXT : Type.BYTES;
        }
        return Type.TEXT;
    }

    /** Make fields without values text, and give unique names to fields without one. */
    void settle() {
        if (type == Type.DECIMAL && digits() > 76) {
            type = Type.TEXT; // no Arrow type has as many digits
        }
        if (type == Type.UNKNOWN) {
            type = Type.TEXT;
        }
        if (parts.isEmpty() && (type == Type.BAG || type == Type.MAP)) {
            part(0).type = type == Type.BAG ? Type.TUPLE : Type.TEXT;
        }
        Set<String> taken = new HashSet<>();
        for (int place = 0; place < parts.size(); place++) {
            Shape part = parts.get(place);
            String wanted = part.name == null ? "$" + place : part.name;
            part.name = wanted;
            for (int number = 2; !taken.add(part.name); number++) {
                part.name = wanted + "_" + number;
            }
            part.settle();
        }
    }

    /** Return the Arrow type in pyarrow's notation. */
    String typeName() {
        switch (type) {
            case BOOLEAN: return "bool";
            case INTEGER: return "int32";
            case LONG: return "int64";
            case FLOAT: return "float";
            case DOUBLE: return "double";
            case DATETIME: return "timestamp[ms, tz=UTC]";
            case BYTES: return "binary";
            case DECIMAL: return (digits() <= 38 ? "decimal128(38, " : "decimal256(76, ") + scale + ")";
            case BAG: return "list<item: " + parts.get(0).typeName() + ">";
            case MAP: return "map<string, " + parts.get(0).typeName() + ">";
            case TUPLE:
                StringJoiner fields = new StringJoiner(", ", "struct<", ">");
                for (Shape part : parts) {
                    fields.add(part.name + ": " + part.typeName());
                }
                return fields.toString();
            default: return "string";
        }
    }

    int digits() {
        return whole + scale;
    }

    /** Return a decimal without a negative scale, which Arrow does not support. */
    static BigDecimal decimal(Object value) {
        BigDecimal number = value instanceof BigInteger ? new BigDecimal((BigInteger) value) : (BigDecimal) value;
        return number.scale() < 0 ? number.setScale(0) : number;
    }

    private static boolean isText(byte[] bytes) {
        boolean isAscii = true;
        for (byte each : bytes) {
            isAscii &= each >= 0;
        }
        if (isAscii) {
            return true;
        }
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder(); // told to report what is wrong, not to replace it
        try {
            decoder.decode(ByteBuffer.wrap(bytes));
            return true;
        } catch (CharacterCodingException notText) {
            return false;
        }
    }
}
