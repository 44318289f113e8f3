import Foundation
import StoreTestSupport

/// Documents under fixtures/ at the root of the repository.
enum Fixture {
    static func data(_ path: String) throws -> Data {
        try Repository.data("fixtures/" + path)
    }
}
