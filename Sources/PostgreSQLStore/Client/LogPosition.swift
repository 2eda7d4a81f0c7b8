#if PostgreSQL
/// A position in the write-ahead log of a cluster, up to which its primary has written, or a replica has replayed.
struct LogPosition: Sendable, Equatable {
    /// The number of the log: a replica that becomes the primary begins a new one.
    let timeline: Int64
    let offset: Int64

    /// Returns whether a server at this position has everything up to the other one.
    ///
    /// The log of an earlier timeline may contain changes that a later timeline, which branched off before them, lacks.
    func contains(_ other: LogPosition) -> Bool { timeline >= other.timeline && offset >= other.offset }

    /// Returns whether this position lies after the other one.
    func follows(_ other: LogPosition) -> Bool { (timeline, offset) > (other.timeline, other.offset) }
}

extension Connection {
    /// Returns the position up to which the server, a primary, has written. It covers at least everything that the server has answered with.
    ///
    /// - Throws: ``ServerError``, also of a server that is a replica.
    func writtenPosition() async throws -> LogPosition {
        // The insert position, not the flushed one: with synchronous_commit = off, commits are visible before they are flushed.
        let result = try await query(
            "SELECT ('x' || left(pg_walfile_name(l), 8))::bit(32)::bigint, (l - '0/0'::pg_lsn)::bigint FROM pg_current_wal_insert_lsn() l",
            isCancellable: false)
        return LogPosition(timeline: result.integer(0, 0), offset: result.integer(0, 1))
    }

    /// Returns the position up to which the server, a replica, has replayed; nil for a server that is not a replica.
    ///
    /// The timeline may be earlier than the actual one: the control file is only updated at checkpoints, and the receiver's timeline is visible to
    /// members of `pg_read_all_stats` only. A server does not receive a log that branched off before the position that it has replayed.
    func replayedPosition() async throws -> LogPosition? {
        let result = try await query(
            "SELECT greatest(c.timeline_id, r.min_recovery_end_timeline, (SELECT max(received_tli) FROM pg_stat_wal_receiver))::bigint, "
                + "(pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint FROM pg_control_checkpoint() c, pg_control_recovery() r "
                + "WHERE pg_is_in_recovery()")
        guard result.rowCount == 1, !result.isNull(0, 1) else { return nil }
        return LogPosition(timeline: result.integer(0, 0), offset: result.integer(0, 1))
    }
}
#endif
