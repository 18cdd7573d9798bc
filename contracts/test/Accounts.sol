// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Deposit} from "../Deposit.sol";
import {DepositFactory} from "../DepositFactory.sol";

/// A treasury that takes no ether.
contract RefusingTreasury {}

/// A treasury that, whenever it is paid, has all its deposits pay again.
contract ReentrantTreasury {
    DepositFactory private immutable FACTORY;
    uint256 public payments;

    constructor(DepositFactory factory) {
        FACTORY = factory;
    }

    receive() external payable {
        payments++;
        for (uint256 index = 0; index < 2; index++) {
            Deposit(payable(FACTORY.depositAddress(address(this), index))).flush(address(0));
        }
    }
}

/// Gives its receiver 2,300 gas, the stipend of every call with a value, as Solidity's `transfer` did.
contract StipendPayer {
    function pay(address payable to) external payable {
        (bool done, ) = to.call{value: msg.value, gas: 0}("");
        require(done);
    }
}
