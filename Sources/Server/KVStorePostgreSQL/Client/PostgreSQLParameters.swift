import Essentials

/// A type of parameters and results, by its fixed number in every server.
package enum PostgreSQLType: UInt32, Sendable {
    case bool = 16
    case bytes = 17
    case int64 = 20
    case int32 = 23
    case text = 25
    case boolArray = 1_000
    case bytesArray = 1_001
    case int32Array = 1_007
    case textArray = 1_009
    case int64Array = 1_016
}

/// A value that a parameter, or an element of one, can have; nil is NULL.
package protocol PostgreSQLValue {
    static var type: PostgreSQLType { get }
    static var arrayType: PostgreSQLType { get }
    /// Appends the binary form, as in `src/backend/utils/adt` of PostgreSQL; false for NULL.
    func write(to bytes: inout [UInt8]) -> Bool
}

/// The parameters of one execution in order, encoded into one buffer.
package struct PostgreSQLParameters: Sendable {
    private(set) var types: [PostgreSQLType] = []
    /// Where each value begins, and its length or nil for NULL.
    private var places: [(offset: Int, length: Int32?)] = []
    private var bytes: [UInt8] = []

    /// - Parameter byteCapacity: of all values together, so that the buffer does not grow.
    package init(byteCapacity: Int = 0) { bytes.reserveCapacity(byteCapacity) }

    package mutating func append<Value: PostgreSQLValue>(_ value: Value) {
        let offset = bytes.count
        let length = value.write(to: &bytes) ? Int32(bytes.count - offset) : nil
        add(Value.type, offset, length)
    }

    /// Appends an array of one dimension. Text may not contain U+0000.
    package mutating func append<Value: PostgreSQLValue>(array: some Sequence<Value>) {
        let offset = bytes.count
        for word in [1, 0, Value.type.rawValue, 0, 1] { bytes.append(bigEndian: word) }
        var (count, hasNull) = (0, false)
        for element in array {
            let start = bytes.count
            bytes.append(bigEndian: Int32(-1))
            if element.write(to: &bytes) {
                bytes.replace(at: start, bigEndian: Int32(bytes.count - start - 4))
            } else {
                hasNull = true
            }
            count += 1
        }
        if count == 0 {
            bytes.replace(at: offset, bigEndian: Int32(0))
            bytes.removeLast(8)
        } else {
            bytes.replace(at: offset + 4, bigEndian: Int32(hasNull ? 1 : 0))
            bytes.replace(at: offset + 12, bigEndian: Int32(count))
        }
        add(Value.arrayType, offset, Int32(bytes.count - offset))
    }

    private mutating func add(_ type: PostgreSQLType, _ offset: Int, _ length: Int32?) {
        types.append(type)
        places.append((offset, length))
    }

    /// Calls the body with what libpq takes: addresses of the values, nil for NULL, and their lengths.
    func withPointers<Result>(_ body: ([UnsafePointer<CChar>?], [Int32]) -> Result) -> Result {
        let lengths = places.map { $0.length ?? 0 }
        return bytes.withUnsafeBytes { buffer in
            // An empty value needs an address, as only NULL has none.
            withUnsafeBytes(of: 0) { empty in
                let base = (buffer.baseAddress ?? empty.baseAddress)?.assumingMemoryBound(to: CChar.self)
                let values = places.map { place in
                    place.length == nil ? nil : base.map { UnsafePointer($0 + place.offset) }
                }
                return body(values, lengths)
            }
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    fileprivate mutating func replace(at offset: Int, bigEndian value: Int32) {
        withUnsafeMutableBytes {
            $0.storeBytes(of: value.bigEndian, toByteOffset: offset, as: Int32.self)
        }
    }
}

extension PostgreSQLValue where Self: FixedWidthInteger {
    package func write(to bytes: inout [UInt8]) -> Bool {
        bytes.append(bigEndian: self)
        return true
    }
}

extension Int64: PostgreSQLValue {
    package static var type: PostgreSQLType { .int64 }
    package static var arrayType: PostgreSQLType { .int64Array }
}

extension Int32: PostgreSQLValue {
    package static var type: PostgreSQLType { .int32 }
    package static var arrayType: PostgreSQLType { .int32Array }
}

extension Bool: PostgreSQLValue {
    package static var type: PostgreSQLType { .bool }
    package static var arrayType: PostgreSQLType { .boolArray }
    package func write(to bytes: inout [UInt8]) -> Bool {
        bytes.append(self ? 1 : 0)
        return true
    }
}

extension String: PostgreSQLValue {
    package static var type: PostgreSQLType { .text }
    package static var arrayType: PostgreSQLType { .textArray }
    package func write(to bytes: inout [UInt8]) -> Bool {
        bytes.append(contentsOf: utf8)
        return true
    }
}

/// Bytes of any collection, copied once.
package protocol PostgreSQLBytes: PostgreSQLValue, Sequence<UInt8> {}

extension PostgreSQLBytes {
    package static var type: PostgreSQLType { .bytes }
    package static var arrayType: PostgreSQLType { .bytesArray }
    package func write(to bytes: inout [UInt8]) -> Bool {
        bytes.append(contentsOf: self)
        return true
    }
}

extension [UInt8]: PostgreSQLValue, PostgreSQLBytes {}
extension ArraySlice<UInt8>: PostgreSQLValue, PostgreSQLBytes {}
extension UnsafeRawBufferPointer: PostgreSQLBytes {}
extension Data: PostgreSQLBytes {}

extension Optional: PostgreSQLValue where Wrapped: PostgreSQLValue {
    package static var type: PostgreSQLType { Wrapped.type }
    package static var arrayType: PostgreSQLType { Wrapped.arrayType }
    package func write(to bytes: inout [UInt8]) -> Bool {
        self?.write(to: &bytes) ?? false
    }
}
