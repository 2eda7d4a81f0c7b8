import TestSupport

/// That of all tests; the product RemoteStoreTesting has one of the same name.
typealias SeededGenerator = TestSupport.SeededGenerator
