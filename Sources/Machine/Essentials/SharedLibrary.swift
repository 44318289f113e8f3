/// A library of the system that is loaded at run time: nothing is needed to build, and a machine without it only lacks
/// what it is for. It stays loaded.
package struct SharedLibrary {
    /// The library has no function of this name.
    package struct MissingFunction: Error {
        package let name: String
    }

    private let handle: UnsafeMutableRawPointer

    /// Loads the first of the files that exists; nil when there is none.
    package init?(fileNames: [String]) {
        guard let handle = fileNames.lazy.compactMap({ dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first else { return nil }
        self.handle = handle
    }

    /// - Parameter Function: a C function's type, which must be that of the function.
    package func function<Function>(_ name: String) throws(MissingFunction) -> Function {
        guard let address = dlsym(handle, name) else { throw MissingFunction(name: name) }
        return unsafeBitCast(address, to: Function.self)
    }
}
