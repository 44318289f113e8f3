package import KVStoreCore
package import KVStoreWire

package enum EntityTag {
    /// That of the same bytes in the content coding `deflate`, which is another representation.
    package static func ofDeflated(_ tag: String) -> String { tag.dropLast() + "-z\"" }

    /// The weak comparison (RFC 9110, section 8.8.3.2), or the strong one, for which no weak tag is equal to any.
    ///
    /// - Parameter tags: as `If-None-Match` and `If-Match` list them.
    package static func list(_ tags: String, contains tag: String, isStrong: Bool = false) -> Bool {
        func opaque(_ tag: some StringProtocol) -> Substring {
            let text = tag.drop { $0 == " " || $0 == "\t" }
            return Substring(text.hasPrefix("W/") && !isStrong ? text.dropFirst(2) : text)
                .prefix { $0 != " " && $0 != "\t" }
        }
        let expected = opaque(tag)
        return tags.split(separator: ",").contains { opaque($0) == "*" || opaque($0) == expected }
    }
}

extension StoreStamp {
    /// That of the value: a stamp is given once.
    var entityTag: String { "\"\(self)\"" }
}

/// What a request to change a key expects of its present value (RFC 9110, section 13.1).
package struct Precondition: Sendable {
    /// The fields `If-Match` and `If-None-Match`; nil for those that the request lacks.
    var match: String?
    var noneMatch: String?

    package static let none = Precondition()

    /// Throws `changedMeanwhile` unless the value is as expected, or what is asked for has been done already, as by the
    /// same request whose answer was lost.
    ///
    /// - Parameter entry: the present record.
    package func check(_ entry: SequencedRecord?, writing content: StoreRecord.Content) throws(Problem) {
        guard match != nil || noneMatch != nil else { return }
        let isPresent = entry.map { !$0.record.content.isTombstone } ?? false
        let tag = isPresent ? entry?.record.stamp.entityTag : nil
        if let match, entry?.record.content ?? .tombstone != content {
            guard let tag, EntityTag.list(match, contains: tag, isStrong: true) else { throw .changedMeanwhile }
        }
        if let noneMatch, let tag, EntityTag.list(noneMatch, contains: tag) { throw .changedMeanwhile }
    }
}
