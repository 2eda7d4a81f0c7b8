package import Predicates
internal import Synchronization

/// The checks of internal invariants: conditions that must hold for a structure after each of its operations.
///
/// They are compiled in if `COREDATA_INTERNAL_CHECKS` is set in the environment of the build; otherwise the calls are empty. Each structure has a
/// property `invariantViolations` that lists the violated invariants, in a file of its own (`Type+Invariants.swift`), and a method
/// `checkInvariants()` that its mutating operations call last.
@usableFromInline package enum InternalChecks {
    /// Whether the checks are compiled in.
    @inline(__always) static var areOn: Bool {
        #if COREDATA_INTERNAL_CHECKS
        true
        #else
        false
        #endif
    }

    /// Up to so many elements a structure is checked whole after each change.
    static let fullSize = 16
    /// The average number of elements that are checked for each change of a larger structure.
    static let share = 4

    private static let calls = Atomic<UInt64>(0)
    /// How many tests of the checks collect violations now: for them, it is always their turn.
    private static let collectors = Atomic<Int>(0)

    /// Returns whether this is the turn of one check among a number of them. It does not use the system's random generator, which would cost more
    /// than most checks.
    @usableFromInline package static func isTurn(among count: Int) -> Bool {
        let number = calls.wrappingAdd(1, ordering: .relaxed).newValue &* 0x9E37_79B9_7F4A_7C15
        return count <= 1 || (number >> 32) % UInt64(count) == 0 || collectors.load(ordering: .relaxed) > 0
    }

    /// Returns whether a structure of this size is checked now: beyond ``fullSize``, only some of the checks run, so that the checks of n changes
    /// examine no more than some four n elements.
    @usableFromInline package static func isDue(_ count: Int) -> Bool { count <= fullSize || isTurn(among: count / share) }

    /// Stops the program if there are violations. Compiled to nothing unless the checks are on.
    @inlinable @inline(__always) package static func enforce(_ violations: @autoclosure () -> [String]) {
        #if COREDATA_INTERNAL_CHECKS
        report(violations())
        #endif
    }

    /// Stops the program if a condition does not hold. Compiled to nothing unless the checks are on.
    @inlinable @inline(__always) package static func require(_ condition: @autoclosure () -> Bool, _ message: @autoclosure () -> String) {
        #if COREDATA_INTERNAL_CHECKS
        if !condition() { report([message()]) }
        #endif
    }

    #if COREDATA_INTERNAL_CHECKS
    @usableFromInline @inline(never) static func report(_ violations: [String]) {
        if violations.isEmpty { return }
        guard let collector else { fatalError("Broken invariants: " + violations.joined(separator: "; ")) }
        collector.violations.withLock { $0 += violations }
    }
    #endif

    // MARK: For the tests of the checks

    /// Collects violations instead of stopping the program.
    final class Collector: Sendable {
        fileprivate let violations = Synchronization.Mutex<[String]>([])
    }

    @TaskLocal private static var collector: Collector?

    /// Returns the violations that the checks find while `body` runs, during which they do not stop the program; always empty if the checks are not
    /// compiled in.
    static func violations(in body: () throws -> Void) rethrows -> [String] {
        let collector = Collector()
        collectors.wrappingAdd(1, ordering: .relaxed)
        defer { collectors.wrappingSubtract(1, ordering: .relaxed) }
        try $collector.withValue(collector) { try body() }
        return collector.violations.withLock { $0 }
    }
}

/// Returns an object as an instance of a class that it is known to be of.
///
/// The caller states why it is; with the checks on, this is verified.
@inline(__always) func unchecked<Object: AnyObject>(_ object: AnyObject, as type: Object.Type) -> Object {
    InternalChecks.require(object is Object, "A \(Swift.type(of: object)) is no \(type).")
    return unsafeDowncast(object, to: type)
}

/// Returns an array of references with another element type: a class that all objects are known to be of; or optional and non-optional references,
/// if none is nil. References have the same representation in all of them, so the array needs no conversion.
///
/// The caller states why the elements fit; with the checks on, this is verified.
@inline(__always) func uncheckedArray<Element, Wanted>(_ elements: [Element], of type: Wanted.Type) -> [Wanted] {
    InternalChecks.require(elements.allSatisfy { $0 as Any is Wanted }, "Some of \(elements.count) elements are no \(type).")
    return unsafeBitCast(elements, to: [Wanted].self)
}

extension Optional {
    /// The value of an optional that is set, as the program has seen to. It is checked in every build.
    ///
    /// - Parameter reason: Why the optional is set.
    @inlinable @inline(__always) package func known(_ reason: StaticString, file: StaticString = #fileID, line: UInt = #line) -> Wrapped {
        guard let self else { stopProgram("There is no \(Wrapped.self), although \(reason).", file: file, line: line) }
        return self
    }

    /// The value of an optional that is set, for the places that every value of every row passes. It is checked only in builds with the internal checks:
    /// elsewhere a missing value is undefined behaviour.
    ///
    /// - Parameter proof: Why the optional is set.
    @inlinable @inline(__always) package func unchecked(_ proof: StaticString) -> Wrapped {
        #if COREDATA_INTERNAL_CHECKS
        if self == nil { fatalError("There is no \(Wrapped.self), although \(proof).") }
        #endif
        return unsafelyUnwrapped
    }
}
