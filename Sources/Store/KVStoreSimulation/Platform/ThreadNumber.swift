import Essentials
import Synchronization

/// A number for each thread that, unlike `pthread_self()`, no later thread gets.
enum ThreadNumber {
    private static let last = Atomic<Int>(0)
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    static var current: Int {
        if let number = pthread_getspecific(key) { return Int(bitPattern: number) }
        let number = last.add(1, ordering: .relaxed).newValue
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: number))
        return number
    }
}
