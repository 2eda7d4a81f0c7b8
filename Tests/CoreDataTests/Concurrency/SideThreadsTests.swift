import Foundation
import Platform
import Predicates
import TestSupport
import Testing

@testable import ObjectGraph

@Suite("Threads of work beside other work") struct SideThreadsTests {
    /// Threads end where no piece is left, and mostly while the next one arrives.
    @Test("do each piece once, also where they end just then", arguments: [1, 4])
    func pieces(limit: Int) throws {
        let threads = SideThreads(limit: limit)
        let counts = LockedBox([Int](repeating: 0, count: 2_000))
        let end = DispatchGroup()
        try onOwnThreads(4) { part in
            for number in 0..<500 {
                end.enter()
                let done = DispatchSemaphore(value: 0)
                threads.run {
                    counts.withLock { $0[part * 500 + number] += 1 }
                    done.signal()
                    end.leave()
                }
                // Some come one by one, and others many at once.
                if number < 250 { done.wait() }
            }
        }
        end.wait()
        expect(counts.withLock { $0 }, equals: [Int](repeating: 1, count: 2_000))
    }

    @Test("are no more than their limit", arguments: [1, 3])
    func limit(limit: Int) {
        let threads = SideThreads(limit: limit)
        let running = LockedBox((now: 0, most: 0))
        let end = DispatchGroup()
        for _ in 0..<300 {
            end.enter()
            threads.run {
                running.withLock { running in
                    running.now += 1
                    running.most = max(running.most, running.now)
                }
                sched_yield()
                running.withLock { $0.now -= 1 }
                end.leave()
            }
        }
        end.wait()
        #expect(running.withLock { $0.most } <= limit)
        #expect(running.withLock { $0.most } >= 1)
    }

    @Test("release a value as its last owner")
    func releasing() {
        final class Releasing: Sendable {
            private let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
            deinit { body() }
        }
        let threads = SideThreads(limit: 1)
        let (caller, releasing) = (pthread_self(), LockedBox<pthread_t?>(nil))
        let end = DispatchSemaphore(value: 0)
        threads.release(
            Releasing {
                releasing.withLock { $0 = pthread_self() }
                end.signal()
            })
        end.wait()
        #expect(releasing.withLock { $0 } != caller)
    }

    #if os(Linux)
    /// The priority of the calling thread: a greater number goes later.
    private static var priority: Int32 { getpriority(Int32(PRIO_PROCESS.rawValue), 0) }

    @Test("have a lower priority than others, which keep theirs")
    func priority() {
        let threads = SideThreads(limit: 1)
        let before = Self.priority
        let (beside, end) = (LockedBox<Int32>(0), DispatchSemaphore(value: 0))
        threads.run {
            beside.withLock { $0 = Self.priority }
            end.signal()
        }
        end.wait()
        expect(beside.withLock { $0 }, equals: min(19, before + 5))
        expect(Self.priority, equals: before)
    }
    #endif
}
