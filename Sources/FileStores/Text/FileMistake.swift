/// What is wrong at a place of a file.
package struct FileMistake: Error {
    package let offset: Int
    /// What was expected there, and what was found.
    package let expected: String
}
