import Foundation

extension Record {
    /// The merge rule: does this record take the place of `other`, a record of the same key?
    ///
    /// The greater stamp wins. Stamps are unique per write, so two records with one stamp differ
    /// only where a replica's directory was copied or a file was damaged; then a value beats a
    /// tombstone and the lexicographically greater bytes win, so that every replica still ends
    /// with the same record. The rule is a total order on (stamp, content), and taking the maximum of a
    /// total order is commutative, associative and idempotent.
    package func supersedes(_ other: Record) -> Bool {
        if stamp != other.stamp { return other.stamp < stamp }
        switch (content, other.content) {
        case (.tombstone, _): return false
        case (.value, .tombstone): return true
        case (.value(let mine), .value(let theirs)):
            return theirs.lexicographicallyPrecedes(mine)
        }
    }
}
