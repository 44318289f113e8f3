import Foundation
import LocalFiles

extension LocalFile {
    /// Writes a private file in a directory that may be missing.
    func create(_ text: String) throws {
        try directory.create()
        try replace(with: Data(text.utf8))
    }
}
