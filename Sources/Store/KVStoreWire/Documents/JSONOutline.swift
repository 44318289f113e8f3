import Essentials

/// How many values the object of a JSON text has, and the elements of one of its arrays. Found without decoding
/// anything, so that what decoding takes can be bounded first. The text may be invalid in any way that brackets and
/// quotes do not show.
struct JSONOutline {
    /// The byte range of the array with its brackets; nil without an array of the name.
    private(set) var array: Range<Int>?
    /// The byte ranges of its elements.
    private(set) var elements: [Range<Int>] = []
    /// Commas and opening brackets: never fewer than there are values beside the outermost one.
    private(set) var markCount = 0
    /// How many of those belong to the array.
    private(set) var arrayMarkCount = 0

    private let name: [UInt8]
    private var depth = 0
    /// Where the present array begins, if it is the one that is sought.
    private var start: Int?
    /// Whether the last string of the outermost object was the name.
    private var isNamed = false
    private var elementStart = 0
    private var hasContent = false

    private enum Outcome { case complete, malformed, tooMany }

    /// - Parameters:
    ///   - name: without characters that JSON escapes.
    ///   - limit: of elements.
    /// - Throws: if there are more elements, as `tooMany`; or if brackets and quotes do not match.
    init(of name: String, in text: Data, elementLimit limit: Int, tooMany: DocumentError) throws(DocumentError) {
        self.name = Array(name.utf8)
        switch text.withUnsafeBytes({ scan($0, elementLimit: limit) }) {
        case .malformed: throw .malformed
        case .tooMany: throw tooMany
        case .complete: break
        }
        func range(_ range: Range<Int>) -> Range<Int> {
            range.lowerBound + text.startIndex..<range.upperBound + text.startIndex
        }
        array = array.map(range)
        elements = elements.map(range)
    }

    private mutating func scan(
        _ bytes: UnsafeRawBufferPointer, elementLimit limit: Int
    ) -> Outcome {
        guard !JSONBytes.hasZero(bytes) else { return .malformed }
        var text = JSONBytes(bytes)
        let first = text.position
        while true {
            let byte = text.next()
            let index = text.position - first
            switch byte {
            case 0: return depth == 0 ? .complete : .malformed
            case UInt8(ascii: "\""):
                guard let string = text.string() else { return .malformed }
                if depth == 1 { isNamed = string.elementsEqual(name) }
                hasContent = true
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                hasContent = true
                open(byte, at: index)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard depth > 0 else { return .malformed }
                close(at: index)
            case UInt8(ascii: ","):
                mark()
                if start != nil, depth == 2 { endElement(at: index) }
                if depth == 1 { isNamed = false }
            default: hasContent = true
            }
            if elements.count > limit { return .tooMany }
            text.advance()
        }
    }

    private mutating func mark() {
        markCount += 1
        if start != nil { arrayMarkCount += 1 }
    }

    private mutating func open(_ byte: UInt8, at index: Int) {
        mark()
        // The first of several fields counts.
        if depth == 1, isNamed, byte == UInt8(ascii: "["), array == nil {
            start = index
            elementStart = index + 1
            hasContent = false
        }
        depth += 1
    }

    private mutating func close(at index: Int) {
        depth -= 1
        guard let start, depth == 1 else { return }
        if hasContent || !elements.isEmpty { endElement(at: index) }
        array = start..<index + 1
        self.start = nil
    }

    private mutating func endElement(at index: Int) {
        elements.append(elementStart..<index)
        elementStart = index + 1
        hasContent = false
    }
}

extension DocumentError {
    static let malformed = DocumentError("not JSON of the form that an export has")
}
