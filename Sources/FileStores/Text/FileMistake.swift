/// A mistake at a place in a file.
package struct FileMistake: Error {
    package let offset: Int
    /// The expected text, and the actual one.
    package let expected: String
}
