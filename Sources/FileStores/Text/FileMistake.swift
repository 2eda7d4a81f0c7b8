/// What is wrong at a place of a file.
struct FileMistake: Error {
    let offset: Int
    /// What was expected there, and what was found.
    let expected: String
}
